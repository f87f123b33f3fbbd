#include <retrace/ops/op.h>

namespace retrace {

Axes::Axes(std::span<const int> axes) {
  count_ = static_cast<int>(axes.size());
  if (count_ <= max_rank) std::copy(axes.begin(), axes.end(), list_.begin());  // flags refuses more, by name
}

std::array<bool, max_rank> Axes::flags(const Tensor& x, const char* function) const {
  std::array<bool, max_rank> result{};
  if (all_) {
    result.fill(true);
    return result;
  }
  if (count_ > max_rank)
    throw ShapeError(text(function, ": ", count_, " axes of ", describe_operand("x", x), " are more than the ",
                          max_rank, " that a tensor can have; name each axis once"));
  for (int k = 0; k < count_; ++k) {
    const int axis = list_[static_cast<std::size_t>(k)];
    bool& flag = result[static_cast<std::size_t>(axis_of(function, x, axis))];
    if (flag)
      throw ShapeError(
          text(function, ": axis ", axis, " of ", describe_operand("x", x), " is named twice; name each axis once"));
    flag = true;
  }
  return result;
}

}  // namespace retrace
