#include <retrace/ops/op.h>
#include <retrace/ops/take.h>

namespace retrace {
namespace {

// "y[i, j, k] = table[ids[i, j], k]"
Formulas embedding_formulas(const Record& r) {
  const int rank = r.in(1).shape.rank();
  const std::string id = rank == 0 ? "ids" : text("ids[", index_letters(rank), "]");
  const std::string row = text("table[", id, ", ", index_letter(rank), "]"), of_y = index_letters(rank + 1);
  const std::int64_t constant = r.attributes<TakeAttributes>().constant;
  return {text("y[", of_y, "] = ", row),
          text("d", row, " += dy[", of_y, "]", constant < 0 ? "" : text(" where ", id, " != ", constant))};
}
AttributeList embedding_attributes(const Record& r) {
  const std::int64_t constant = r.attributes<TakeAttributes>().constant;
  if (constant < 0) return {};
  return {{"padding_idx", constant}};
}
constexpr OpInfo embedding_info{"embedding",  "y[i, j] = table[ids[i], j]", "dtable[ids[i], j] += dy[i, j]",
                                "table, ids", embedding_formulas,           embedding_attributes};

/// The row of the padding; -1 if there is none.
std::int64_t padding_of(const Tensor& table, const EmbeddingOptions& options) {
  if (!options.padding_idx) return -1;
  const std::int64_t count = table.dim(0), row = *options.padding_idx + (*options.padding_idx < 0 ? count : 0);
  if (row < 0 || row >= count)
    throw IndexError(text("embedding: padding_idx ", *options.padding_idx, " is no row of ",
                          describe_operand("table", table), "; choose one from ", -count, " to ", count - 1));
  return row;
}

}  // namespace

Tensor embedding(const Tensor& table, const Tensor& ids, const EmbeddingOptions& options) {
  check_defined(embedding_info.name, table, "table");
  check_defined(embedding_info.name, ids, "ids");
  if (table.rank() != 2)
    throw ShapeError(
        text("embedding: ", describe_operand("table", table), " must be a matrix [ids, features]; reshape it"));
  check_rank(embedding_info.name, ids, ids.rank() + 1, "ids");
  return take_blocks(embedding_info, table, ids, {.axis = 0, .constant = padding_of(table, options)},
                     ids.shape().inserted(ids.rank(), table.dim(1)));
}

}  // namespace retrace
