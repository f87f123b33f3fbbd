#include <retrace/ops/loops/strided.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

Formulas pad_formulas(const Record& r) {
  const std::string inside = index_of_part(r.out(0).shape, r.in(0).shape, r.attributes<Strided>());
  return {text("y = 0, y[", inside, "] = x"), text("dx = dy[", inside, "]")};
}
// The zeros before the elements of each axis: the position in y of the first element of x.
AttributeList pad_attributes(const Record& r) {
  const auto strides = r.out(0).shape.strides();
  std::int64_t rest = r.attributes<Strided>().offset;
  std::vector<std::int64_t> before;
  for (int axis = 0; axis < r.out(0).shape.rank(); ++axis) {
    const std::int64_t stride = std::max<std::int64_t>(1, strides[static_cast<std::size_t>(axis)]);
    before.push_back(rest / stride);
    rest %= stride;
  }
  return {{"before", std::move(before)}};
}
constexpr OpInfo pad_info{"pad", "y = 0, y[inside] = x", "dx = dy[inside]", "x", pad_formulas, pad_attributes};

void pad_backward(Record& r) {
  const StridedWalk walk(r.in(0).shape, r.attributes<Strided>());
  dispatch_real(r.in(0).dtype, pad_info.name,
                [&]<class T>(T) { read_strided(walk, r.grad_out<T>(), r.grad_in<T>(0)); });
}

/// pad with the negative numbers as a slice of x.
Tensor cut_and_pad(const Tensor& x, std::span<const Padding> padding) {
  std::vector<SliceIndex> kept;
  std::vector<Padding> zeros;
  for (int axis = 0; axis < x.rank(); ++axis) {
    const auto [before, after] = padding[static_cast<std::size_t>(axis)];
    const std::int64_t extent = x.dim(axis), from = -std::min<std::int64_t>(0, std::max(before, -extent - 1)),
                       to = extent + std::min<std::int64_t>(0, std::max(after, -extent - 1));
    if (from > to)
      throw ShapeError(text("pad: ", before, " and ", after, " cut more than axis ", axis, " of ",
                            describe_operand("x", x), " has; cut less"));
    kept.push_back(range(from, to));
    zeros.push_back({std::max<std::int64_t>(0, before), std::max<std::int64_t>(0, after)});
  }
  return pad(slice(x, kept), zeros);
}

}  // namespace

Tensor pad(const Tensor& x, std::span<const Padding> padding) {
  check_defined(pad_info.name, x, "x");
  if (static_cast<int>(padding.size()) != x.rank())
    throw ShapeError(text("pad: ", padding.size(), " paddings for ", describe_operand("x", x), "; give one per axis"));
  const auto cuts = [](const Padding& p) { return p.before < 0 || p.after < 0; };
  if (std::any_of(padding.begin(), padding.end(), cuts)) return cut_and_pad(x, padding);
  Shape shape = x.shape();
  for (int axis = 0; axis < x.rank(); ++axis) {
    const Padding& of_axis = padding[static_cast<std::size_t>(axis)];
    const std::int64_t extent = checked_sum("pad", "the padded length", {of_axis.before, x.dim(axis), of_axis.after});
    shape = shape.replaced(axis, extent);
  }
  Tensor y = empty(shape, x.dtype(), pad_info.name);
  Strided inside{0, shape.strides()};
  for (int axis = 0; axis < x.rank(); ++axis)
    inside.offset += padding[static_cast<std::size_t>(axis)].before * inside.strides[static_cast<std::size_t>(axis)];
  dispatch_any(x.dtype(), [&]<class T>(T) {
    std::fill_n(OpAccess::values<T>(y), y.numel(), T{});
    write_strided(StridedWalk(x.shape(), inside), x.values<T>().data(), {OpAccess::values<T>(y), false});
  });
  record(pad_info, pad_backward, {&x}, {&y}, {}, inside);
  return y;
}

Tensor pad(const Tensor& x, std::initializer_list<Padding> padding) {
  return pad(x, std::span(padding.begin(), padding.size()));
}

}  // namespace retrace
