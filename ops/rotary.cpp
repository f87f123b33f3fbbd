#include <cmath>
#include <type_traits>

#include <retrace/core/attribute.h>
#include <retrace/core/parallel.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

Formulas formulas(const Record& r) {
  const auto [heads, first, base, pairs] = r.attributes<RotaryOptions>();
  const std::int64_t size = r.in(0).shape[-1] / heads;
  const bool halves = pairs == RotaryPairs::halves;
  const std::string a = halves ? "[t, i]" : "[t, 2 i]", b = halves ? text("[t, i + ", size / 2, "]") : "[t, 2 i + 1]";
  const std::string angle =
      text("m = ", first == 0 ? text("t") : text("(t + ", first, ")"), " ", base, "^(-2 i / ", size, "), ");
  const std::string for_each = heads > 1 ? ", for each head" : "";
  return {angle + "y" + a + " = x" + a + " cos(m) - x" + b + " sin(m), y" + b + " = x" + a + " sin(m) + x" + b +
              " cos(m)" + for_each,
          angle + "dx" + a + " = dy" + a + " cos(m) + dy" + b + " sin(m), dx" + b + " = dy" + b + " cos(m) - dy" + a +
              " sin(m)" + for_each};
}
AttributeList attribute_list(const Record& r) {
  const auto [heads, first, base, pairs] = r.attributes<RotaryOptions>();
  return {{"heads", heads},
          {"first", first},
          {"base", base},
          {"pairs", pairs == RotaryPairs::halves ? "halves" : "adjacent"}};
}
constexpr OpInfo info{
    "rotary",
    "y[2 i] = x[2 i] cos(m) - x[2 i + 1] sin(m), y[2 i + 1] = x[2 i] sin(m) + x[2 i + 1] cos(m)",
    "dx[2 i] = dy[2 i] cos(m) + dy[2 i + 1] sin(m), dx[2 i + 1] = dy[2 i + 1] cos(m) - dy[2 i] sin(m)",
    "x",
    formulas,
    attribute_list};

/// Constants beside dual numbers are f64.
template <class T> using Constant = std::conditional_t<std::is_same_v<T, float>, float, double>;

/// cos m and sin m of each step and pair: [2, T, pairs].
template <class T> Tensor turns_of(std::int64_t time, std::int64_t pairs, const RotaryOptions& options) {
  Tensor turns = empty({2, time, pairs}, std::is_same_v<T, float> ? f32 : f64);
  T* const cosine = turns.mutable_values<T>().data();
  T* const sine = cosine + time * pairs;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double frequency = std::pow(options.base, -static_cast<double>(i) / static_cast<double>(pairs));
    for (std::int64_t t = 0; t < time; ++t) {
      const double m = static_cast<double>(options.first + t) * frequency;
      cosine[t * pairs + i] = static_cast<T>(std::cos(m));
      sine[t * pairs + i] = static_cast<T>(std::sin(m));
    }
  }
  return turns;
}

/// Rows [..., T, heads 2 pairs], and the turns of their pairs.
template <class T> struct Turning {
  std::int64_t rows, time, heads, pairs;
  bool halves;
  const Constant<T>* turns;

  /// to(a) = or += a cos - b sin and to(b) = or += a sin + b cos of all pairs (a, b); backwards with -sin for sin.
  template <bool backwards> void turn(const T* from, const GradientSlot<T>& to) const {
    if (halves)
      turn_rows<backwards>(from, to, 1, pairs);
    else
      turn_rows<backwards>(from, to, 2, 1);
  }

 private:
  template <bool backwards>
  void turn_rows(const T* from, const GradientSlot<T>& to, std::int64_t stride, std::int64_t distance) const {
    const std::int64_t width = heads * 2 * pairs;
    parallel_for(rows, 4096 / (width + 1) + 1, [=, *this](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) {
        const Constant<T>* const cosine = turns + row % time * pairs;
        const Constant<T>* const sine = cosine + time * pairs;
        for (std::int64_t start = row * width; start < (row + 1) * width; start += 2 * pairs)
          for (std::int64_t i = 0; i < pairs; ++i) {
            const std::int64_t first = start + i * stride, second = first + distance;
            const T a = from[first], b = from[second];
            const T c = static_cast<T>(cosine[i]), s = static_cast<T>(backwards ? -sine[i] : sine[i]);
            to.put_at(first, a * c - b * s);
            to.put_at(second, a * s + b * c);
          }
      }
    });
  }
};

template <class T> Turning<T> turning_of(const Shape& x, const RotaryOptions& options, const Constant<T>* turns) {
  const std::int64_t rows = x.first(x.rank() - 1).numel(), pairs = x[-1] / options.heads / 2;
  return {rows, x[-2], options.heads, pairs, options.pairs == RotaryPairs::halves, turns};
}

void backward(Record& r) {
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const Constant<T>* const turns = r.saved(0).values<Constant<T>>();
    turning_of<T>(r.in(0).shape, r.attributes<RotaryOptions>(), turns)
        .template turn<true>(r.grad_out<T>(), r.grad_in<T>(0));
  });
}

}  // namespace

Tensor rotary(const Tensor& x, const RotaryOptions& options) {
  check_defined(info.name, x, "x");
  if (x.rank() < 2)
    throw ShapeError(text("rotary: ", describe_operand("x", x), " must be [..., time, features]; reshape it"));
  const std::int64_t features = x.dim(-1), features_of_pairs = std::int64_t{2} * options.heads;
  if (options.heads < 1 || features % features_of_pairs != 0)
    throw ShapeError(text("rotary: ", options.heads, " heads do not divide the last axis of ", describe_operand("x", x),
                          " into pairs of features; choose heads of an even size"));
  Tensor y, turns;
  dispatch_real(x, "x", info.name, [&](auto zero) {
    using T = decltype(zero);
    y = empty_like(x);
    turns = turns_of<Constant<T>>(x.dim(-2), features / features_of_pairs, options);
    turning_of<T>(x.shape(), options, turns.values<Constant<T>>().data())
        .template turn<false>(x.values<T>().data(), {y.mutable_values<T>().data(), false});
  });
  record(info, backward, {&x}, {&y}, {&turns}, options);
  return y;
}

}  // namespace retrace
