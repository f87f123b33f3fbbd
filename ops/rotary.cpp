#include <retrace/ops/kernels/run.h>
#include <retrace/ops/op.h>

namespace retrace {

template <class T> void plain::turn_rows(const TurnedRows<T>& args) {
  const std::int64_t size = 2 * args.pairs;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const Turn<T>* const cosine = args.turns + (args.first + row) % args.time * size;
    const Turn<T>* const sine = cosine + args.time * size;
    for (std::int64_t start = row * args.heads * size; start < (row + 1) * args.heads * size; start += size)
      for (std::int64_t k = 0; k < size; ++k) {
        const std::int64_t partner = args.halves ? (k + args.pairs) % size : k ^ 1;
        const T turned = args.x[start + k] * static_cast<T>(cosine[k]) +
                         args.x[start + partner] * static_cast<T>(args.backwards ? -sine[k] : sine[k]);
        args.y[start + k] = args.add ? args.y[start + k] + turned : turned;
      }
  }
}

RETRACE_INSTANTIATE_PLAIN(turn_rows, TurnedRows);

namespace {

Formulas rotary_formulas(const Record& r) {
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
AttributeList rotary_attributes(const Record& r) {
  const auto [heads, first, base, pairs] = r.attributes<RotaryOptions>();
  return {{"heads", heads},
          {"first", first},
          {"base", base},
          {"pairs", pairs == RotaryPairs::halves ? "halves" : "adjacent"}};
}
constexpr OpInfo rotary_info{
    "rotary",
    "y[2 i] = x[2 i] cos(m) - x[2 i + 1] sin(m), y[2 i + 1] = x[2 i] sin(m) + x[2 i + 1] cos(m)",
    "dx[2 i] = dy[2 i] cos(m) + dy[2 i + 1] sin(m), dx[2 i + 1] = dy[2 i + 1] cos(m) - dy[2 i] sin(m)",
    "x",
    rotary_formulas,
    rotary_attributes};

/// For each step and feature of a head, cos m, and sin m with its sign: [2, T, 2 pairs], as TurnedRows reads them.
template <class T> Tensor turns_of(std::int64_t time, std::int64_t size, const RotaryOptions& options) {
  Tensor turns = empty({2, time, size}, std::is_same_v<T, float> ? f32 : f64);
  T* const cosine = OpAccess::values<T>(turns);
  T* const sine = cosine + time * size;
  const bool halves = options.pairs == RotaryPairs::halves;
  const std::int64_t pairs = size / 2;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double frequency = std::pow(options.base, -static_cast<double>(i) / static_cast<double>(pairs));
    const std::int64_t a = halves ? i : 2 * i, b = halves ? i + pairs : 2 * i + 1;
    for (std::int64_t t = 0; t < time; ++t) {
      const double m = static_cast<double>(options.first + t) * frequency;
      cosine[t * size + a] = cosine[t * size + b] = static_cast<T>(std::cos(m));
      sine[t * size + b] = static_cast<T>(std::sin(m));
      sine[t * size + a] = -sine[t * size + b];
    }
  }
  return turns;
}

/// y = or += the rows of x [..., T, features], turned or, if `backwards`, turned back.
template <class T>
void turn(const Shape& shape, const RotaryOptions& options, const Turn<T>* turns, const T* x, const GradientSlot<T>& y,
          bool backwards) {
  const std::int64_t rows = shape.first(shape.rank() - 1).numel(), time = shape[-2], width = shape[-1];
  parallel_for(rows, 4096 / (width + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    kernels::run<T>(&kernels::KernelTable::turn_rows, plain::turn_rows<T>,
                    {.x = x + begin * width,
                     .y = y.values + begin * width,
                     .rows = end - begin,
                     .first = begin % time,
                     .time = time,
                     .heads = options.heads,
                     .pairs = width / options.heads / 2,
                     .turns = turns,
                     .halves = options.pairs == RotaryPairs::halves,
                     .backwards = backwards,
                     .add = y.add});
  });
}

void rotary_backward(Record& r) {
  dispatch_real(r.in(0).dtype, rotary_info.name, [&]<class T>(T) {
    turn<T>(r.in(0).shape, r.attributes<RotaryOptions>(), r.saved(0).values<Turn<T>>(), r.grad_out<T>(),
            r.grad_in<T>(0), true);
  });
}

}  // namespace

Tensor rotary(const Tensor& x, const RotaryOptions& options) {
  check_defined(rotary_info.name, x, "x");
  if (x.rank() < 2)
    throw ShapeError(text("rotary: ", describe_operand("x", x), " must be [..., time, features]; reshape it"));
  const std::int64_t features = x.dim(-1), features_of_pairs = std::int64_t{2} * options.heads;
  if (options.heads < 1 || features % features_of_pairs != 0)
    throw ShapeError(text("rotary: ", options.heads, " heads do not divide the last axis of ", describe_operand("x", x),
                          " into pairs of features; choose heads of an even size"));
  if (!(options.base > 0) || !std::isfinite(options.base))
    throw ValueError(text("rotary: the base is ", options.base, "; give a positive number"));
  Tensor y, turns;
  dispatch_real(x, "x", rotary_info.name, [&]<class T>(T) {
    using Turn = Turn<T>;
    y = empty_like(x);
    turns = turns_of<Turn>(x.dim(-2), features / options.heads, options);
    turn<T>(x.shape(), options, turns.values<Turn>().data(), x.values<T>().data(), {OpAccess::values<T>(y), false},
            false);
  });
  record(rotary_info, rotary_backward, {&x}, {&y}, {&turns}, options);
  return y;
}

}  // namespace retrace
