#include <retrace/ops/attention/shared_heads.h>

#include <retrace/ops/op.h>

namespace retrace {

Tensor shared_heads(const Tensor& x, std::int64_t key_heads, std::int64_t heads) {
  if (key_heads != heads && key_heads == 1) return unsqueeze(x, -3);
  const Tensor own = split_heads(x, static_cast<int>(key_heads));
  if (key_heads == heads) return own;
  Tensor of_each = empty({heads}, i64);
  for (std::int64_t head = 0; head < heads; ++head)
    OpAccess::values<std::int64_t>(of_each)[head] = head / (heads / key_heads);
  return take(own, of_each, -3);
}

}  // namespace retrace
