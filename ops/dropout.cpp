#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// The factor of the elements that are kept.
double factor_of(double probability) { return probability < 1 ? 1 / (1 - probability) : 0; }

Formulas dropout_formulas(const Record& r) {
  return {text("m in {0, ", factor_of(r.attributes<double>()), "}, y = x m"), r.op().backward};
}
AttributeList dropout_attributes(const Record& r) {
  AttributeList list{{"probability", r.attributes<double>()}};
  if (r.saved(0)) list.push_back({"mask", r.saved(0).tensor()});  // until a backward has let go of it
  return list;
}
constexpr OpInfo dropout_info{"dropout",         "m in {0, 1 / (1 - p)}, y = x m", "dx = dy m", "x", dropout_formulas,
                              dropout_attributes};
constexpr std::int64_t dropout_grain = 16384;

void dropout_backward(Record& r) {
  dispatch_real(r.in(0).dtype, dropout_info.name, [&]<class T>(T) {
    const T* m = r.saved(0).values<T>();
    const auto [dy, dx] = r.flow<T>(0);
    parallel_for(r.in(0).numel(), dropout_grain, [=, dy = dy, dx = dx](std::int64_t begin, std::int64_t end) {
      dx.from(begin).put(end - begin, [=](std::int64_t k) { return dy[begin + k] * m[begin + k]; });
    });
  });
}

}  // namespace

Tensor dropout(const Tensor& x, double probability, Random* random) {
  check_defined(dropout_info.name, x, "x");
  if (!(probability >= 0 && probability <= 1))
    throw ValueError(
        text("dropout: ", describe_operand("x", x), " with probability ", probability, "; it must lie from 0 to 1"));
  if (random == nullptr) return x;
  Tensor y;
  Tensor mask;
  dispatch_real(x, "x", dropout_info.name, [&]<class T>(T) {
    y = empty_like(x);
    mask = empty_like(x);
    const T kept = static_cast<T>(factor_of(probability));
    const T* from = x.values<T>().data();
    T* m = OpAccess::values<T>(mask);
    T* to = OpAccess::values<T>(y);
    const std::int64_t count = x.numel();
    // Draws are made in order on one thread: which elements fall depends on the generator alone.
    for (std::int64_t k = 0; k < count; ++k) m[k] = random->chance(probability) ? T(0) : kept;
    for (std::int64_t k = 0; k < count; ++k) to[k] = from[k] * m[k];
  });
  record(dropout_info, dropout_backward, {&x}, {&y}, {&mask}, probability);
  return y;
}

}  // namespace retrace
