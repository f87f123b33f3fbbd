#include <retrace/ops/op.h>
#include <retrace/ops/take.h>

namespace retrace {
namespace {

// "y[i, j, k] = table[ids[i, j], k]"
Formulas embedding_formulas(const Record& r) {
  const int rank = r.in(1).shape.rank();
  const std::string id = rank == 0 ? "ids" : text("ids[", index_letters(rank), "]");
  const std::string row = text("table[", id, ", ", index_letter(rank), "]"), of_y = index_letters(rank + 1);
  return {text("y[", of_y, "] = ", row), text("d", row, " += dy[", of_y, "]")};
}
constexpr OpInfo embedding_info{"embedding", "y[i, j] = table[ids[i], j]", "dtable[ids[i], j] += dy[i, j]",
                                "table, ids", embedding_formulas};

}  // namespace

Tensor embedding(const Tensor& table, const Tensor& ids) {
  check_defined(embedding_info.name, table, "table");
  check_defined(embedding_info.name, ids, "ids");
  if (table.rank() != 2)
    throw ShapeError(
        text("embedding: ", describe_operand("table", table), " must be a matrix [ids, features]; reshape it"));
  check_rank(embedding_info.name, ids, ids.rank() + 1, "ids");
  return take_blocks(embedding_info, table, ids, 0, ids.shape().inserted(ids.rank(), table.dim(1)));
}

}  // namespace retrace
