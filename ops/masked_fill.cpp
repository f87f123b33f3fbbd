#include <retrace/core/attribute.h>
#include <retrace/core/parallel.h>
#include <retrace/ops/loops/broadcast.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

struct Attributes {
  double value;
};

Formulas formulas(const Record& r) {
  return {text("y = ", r.attributes<Attributes>().value, " where mask, else x"), r.op().backward};
}
AttributeList attribute_list(const Record& r) { return {{"value", r.attributes<Attributes>().value}}; }
constexpr OpInfo info{"masked_fill", "y = c where mask, else x", "dx = 0 where mask, else dy", "x, mask", formulas,
                      attribute_list};
constexpr std::int64_t grain = 16384;

/// Calls body(k, hidden) for every element k of x in [begin, end), hidden says whether the mask is not 0 there.
template <class Body>
void for_each_masked(const Broadcast& broadcast, const std::int64_t* mask, std::int64_t begin, std::int64_t end,
                     const Body& body) {
  const std::int64_t step = broadcast.strides[0][1];
  for_each_row(broadcast, begin, end, [&](const BroadcastRow& row) {
    for (std::int64_t k = 0; k < row.count; ++k) body(row.first + k, mask[row.offsets[1] + k * step] != 0);
  });
}

void masked_fill_backward(Record& r) {
  const Broadcast broadcast(r.in(0).shape, {&r.in(0).shape, &r.in(1).shape});
  const std::int64_t* mask = r.saved(0).values<std::int64_t>();
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const T* dy = r.grad_out<T>();
    const GradientSlot<T> dx = r.grad_in<T>(0);
    parallel_for(r.in(0).numel(), grain, [&](std::int64_t begin, std::int64_t end) {
      for_each_masked(broadcast, mask, begin, end, [=](std::int64_t k, bool hidden) {
        const T before = dx.add ? dx.values[k] : T(0);
        dx.values[k] = hidden ? before : before + dy[k];
      });
    });
  });
}

}  // namespace

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
  check_defined(info.name, x, "x");
  check_defined(info.name, mask, "mask");
  check_mask(info.name, "mask", mask);
  if (broadcast_shapes(x.shape(), mask.shape(), info.name, "x", "mask") != x.shape())
    throw ShapeError(text(info.name, ": ", describe_operand("mask", mask), " does not broadcast to ",
                          describe_operand("x", x), ": it has more elements; reduce the mask or broadcast x first"));
  const Broadcast broadcast(x.shape(), {&x.shape(), &mask.shape()});
  Tensor y;
  dispatch_real(x, "x", info.name, [&](auto zero) {
    using T = decltype(zero);
    y = empty_like(x);
    const T* from = x.values<T>().data();
    const std::int64_t* hides = mask.values<std::int64_t>().data();
    T* to = y.mutable_values<T>().data();
    const T fill = static_cast<T>(value);
    parallel_for(x.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
      for_each_masked(broadcast, hides, begin, end,
                      [=](std::int64_t k, bool hidden) { to[k] = hidden ? fill : from[k]; });
    });
  });
  record(info, masked_fill_backward, {&x, &mask}, {&y}, {&mask}, Attributes{value});
  return y;
}

}  // namespace retrace
