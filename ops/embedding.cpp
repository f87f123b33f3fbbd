#include <retrace/ops/take.h>

namespace retrace {
namespace {

constexpr OpInfo info{"embedding", "y[..., :] = table[ids[...], :]", "dtable[ids[...], :] += dy[..., :]", "table, ids"};

}  // namespace

Tensor embedding(const Tensor& table, const Tensor& ids) {
  if (table.rank() != 2)
    throw ShapeError(
        text("embedding: ", describe_operand("table", table), " must be a matrix [ids, features]; reshape it"));
  check_rank(info.name, ids, ids.rank() + 1, "ids");
  return take_blocks(info, table, ids, 0, ids.shape().inserted(ids.rank(), table.dim(1)));
}

}  // namespace retrace
  check_defined(info.name, table, "table");
  check_defined(info.name, ids, "ids");
