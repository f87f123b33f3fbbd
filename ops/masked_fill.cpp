#include <retrace/ops/loops/broadcast.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

Formulas masked_fill_formulas(const Record& r) {
  return {text("y = ", r.attributes<double>(), " where mask, else x"), r.op().backward};
}
AttributeList masked_fill_attributes(const Record& r) { return {{"value", r.attributes<double>()}}; }
constexpr OpInfo masked_fill_info{"masked_fill", "y = c where mask, else x", "dx = 0 where mask, else dy",
                                  "x, mask",     masked_fill_formulas,       masked_fill_attributes};
constexpr std::int64_t masked_fill_grain = 16384;

/// to[k] = visible(k), or hidden(k) where the mask is not 0, for elements [begin, end) of x. An element of the mask
/// that decides over a whole row is read once.
template <class T, class Visible, class Hidden>
void choose(const Broadcast& broadcast, const std::int64_t* mask, std::int64_t begin, std::int64_t end, T* to,
            const Visible& visible, const Hidden& hidden) {
  for_each_row(broadcast, begin, end, [&](const BroadcastRow& row) {
    const std::int64_t *flags = mask + row.offsets[1], first = row.first, last = row.first + row.count;
    if (!broadcast.stands_still(1)) {
      for (std::int64_t k = first; k < last; ++k) to[k] = flags[k - first] != 0 ? hidden(k) : visible(k);
    } else if (*flags != 0) {
      for (std::int64_t k = first; k < last; ++k) to[k] = hidden(k);
    } else {
      for (std::int64_t k = first; k < last; ++k) to[k] = visible(k);
    }
  });
}

void masked_fill_backward(Record& r) {
  const Broadcast broadcast(r.in(0).shape, {&r.in(0).shape, &r.in(1).shape});
  const std::int64_t* mask = r.saved(0).values<std::int64_t>();
  dispatch_real(r.in(0).dtype, masked_fill_info.name, [&]<class T>(T) {
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    T* to = dx.values;
    parallel_for(r.in(0).numel(), masked_fill_grain, [&](std::int64_t begin, std::int64_t end) {
      if (dx.add)
        choose(
            broadcast, mask, begin, end, to, [=](std::int64_t k) { return to[k] + dy[k]; },
            [=](std::int64_t k) { return to[k]; });
      else
        choose(
            broadcast, mask, begin, end, to, [=](std::int64_t k) { return dy[k]; }, [](std::int64_t) { return T(0); });
    });
  });
}

}  // namespace

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  check_defined(masked_fill_info.name, x, "x");
  check_defined(masked_fill_info.name, mask, "mask");
  check_mask(masked_fill_info.name, "mask", mask);
  if (broadcast_shapes(x.shape(), mask.shape(), masked_fill_info.name, "x", "mask") != x.shape())
    throw ShapeError(text(masked_fill_info.name, ": ", describe_operand("mask", mask), " does not broadcast to ",
                          describe_operand("x", x), ": it has more elements; reduce the mask or broadcast x first"));
  const Broadcast broadcast(x.shape(), {&x.shape(), &mask.shape()});
  Tensor y;
  dispatch_real(x, "x", masked_fill_info.name, [&]<class T>(T) {
    y = empty_like(x);
    const T* from = x.values<T>().data();
    const std::int64_t* hides = mask.values<std::int64_t>().data();
    T* to = OpAccess::values<T>(y);
    const T fill = static_cast<T>(value);
    parallel_for(x.numel(), masked_fill_grain, [&](std::int64_t begin, std::int64_t end) {
      choose(
          broadcast, hides, begin, end, to, [=](std::int64_t k) { return from[k]; },
          [=](std::int64_t) { return fill; });
    });
  });
  record(masked_fill_info, masked_fill_backward, {&x, &mask}, {&y}, {&mask}, value);
  return y;
}

}  // namespace retrace
