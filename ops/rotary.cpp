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

struct RotaryAttributes {
  int heads;
  std::int64_t first;
  double base;
  RotaryPairs pairs;
  bool has_angles;  // of positions or a table of the user
};

Formulas rotary_formulas(const Record& r) {
  const auto [heads, first, base, pairs, has_angles] = r.attributes<RotaryAttributes>();
  const std::int64_t size = r.in(0).shape[-1] / heads;
  const bool halves = pairs == RotaryPairs::halves;
  const std::string a = halves ? "[t, i]" : "[t, 2 i]", b = halves ? text("[t, i + ", size / 2, "]") : "[t, 2 i + 1]";
  const std::string angle = has_angles ? ""
                                       : text("m = ", first == 0 ? text("t") : text("(t + ", first, ")"), " ", base,
                                              "^(-2 i / ", size, "), ");
  const std::string cosine = has_angles ? " c[t, i]" : " cos(m)", sine = has_angles ? " s[t, i]" : " sin(m)";
  const std::string for_each = heads > 1 ? ", for each head" : "";
  return {angle + "y" + a + " = x" + a + cosine + " - x" + b + sine + ", y" + b + " = x" + a + sine + " + x" + b +
              cosine + for_each,
          angle + "dx" + a + " = dy" + a + cosine + " + dy" + b + sine + ", dx" + b + " = dy" + b + cosine + " - dy" +
              a + sine + for_each};
}
AttributeList rotary_attributes(const Record& r) {
  const auto [heads, first, base, pairs, has_angles] = r.attributes<RotaryAttributes>();
  const bool halves = pairs == RotaryPairs::halves;
  const Attribute of_heads{"heads", heads}, of_pairs{"pairs", halves ? "halves" : "adjacent"};
  if (!has_angles) return {of_heads, {"first", first}, {"base", base}, of_pairs};
  const Tensor turns = r.saved(0).tensor();
  const SliceIndex second = halves ? range(turns.dim(2) / 2) : range(1, SliceIndex::none, 2);
  return {of_heads, of_pairs, {"c", slice(turns, {0, all, second})}, {"s", slice(turns, {1, all, second})}};
}
constexpr OpInfo rotary_info{
    "rotary",
    "y[2 i] = x[2 i] cos(m) - x[2 i + 1] sin(m), y[2 i + 1] = x[2 i] sin(m) + x[2 i + 1] cos(m)",
    "dx[2 i] = dy[2 i] cos(m) + dy[2 i + 1] sin(m), dx[2 i + 1] = dy[2 i + 1] cos(m) - dy[2 i] sin(m)",
    "x",
    rotary_formulas,
    rotary_attributes};

/// The position of each step: [T], or of each row of x, [..., T].
Tensor positions_of(const Tensor& x, const RotaryOptions& options) {
  const Tensor& given = options.positions;
  if (!given.defined()) return arange(options.first, options.first + x.dim(-2), 1, i64);
  const Shape steps = given.rank() <= 1 ? Shape{x.dim(-2)} : x.shape().first(x.rank() - 1);
  if (broadcast_shapes(steps, given.shape(), rotary_info.name, "steps", "positions") != steps)
    throw ShapeError(text("rotary: ", describe_operand("positions", given), " does not broadcast to the steps ", steps,
                          " of ", describe_operand("x", x), "; reshape it"));
  const Tensor positions = broadcast_to(given, steps);
  return options.first == 0 ? positions : add(positions, full({}, options.first, i64));
}

/// For each position and feature of a head, cos m, and sin m with its sign: [2, positions, 2 pairs], as TurnedRows
/// reads them.
template <class T> Tensor turns_of(const Tensor& positions, std::int64_t size, const RotaryOptions& options) {
  const std::int64_t time = positions.numel(), pairs = size / 2;
  Tensor turns = empty({2, time, size}, std::is_same_v<T, float> ? f32 : f64);
  T* const cosine = OpAccess::values<T>(turns);
  T* const sine = cosine + time * size;
  const std::int64_t* position = positions.values<std::int64_t>().data();
  const bool halves = options.pairs == RotaryPairs::halves;
  const auto put = [&](std::int64_t t, std::int64_t i, double of_cosine, double of_sine) {
    const std::int64_t a = halves ? i : 2 * i, b = halves ? i + pairs : 2 * i + 1;
    cosine[t * size + a] = cosine[t * size + b] = static_cast<T>(of_cosine);
    sine[t * size + b] = static_cast<T>(of_sine);
    sine[t * size + a] = -sine[t * size + b];
  };
  if (options.cosines.defined()) {
    const NoTape nothing_is_recorded;
    const Tensor cosines = options.cosines.detach().to(f64), sines = options.sines.detach().to(f64);
    const double *c = cosines.values<double>().data(), *s = sines.values<double>().data();
    for (std::int64_t t = 0; t < time; ++t)
      for (std::int64_t i = 0; i < pairs; ++i) put(t, i, c[position[t] * pairs + i], s[position[t] * pairs + i]);
    return turns;
  }
  for (std::int64_t i = 0; i < pairs; ++i) {
    const double frequency = std::pow(options.base, -static_cast<double>(i) / static_cast<double>(pairs));
    for (std::int64_t t = 0; t < time; ++t) {
      const double m = static_cast<double>(position[t]) * frequency;
      put(t, i, std::cos(m), std::sin(m));
    }
  }
  return turns;
}

/// y = or += the rows of x [..., T, features], turned or, if `backwards`, turned back.
template <class T>
void turn(const Shape& shape, const RotaryAttributes& attributes, const Turn<T>* turns, std::int64_t time, const T* x,
          const GradientSlot<T>& y, bool backwards) {
  const std::int64_t rows = shape.first(shape.rank() - 1).numel(), width = shape[-1];
  parallel_for(rows, 4096 / (width + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    kernels::run<T>(&kernels::KernelTable::turn_rows, plain::turn_rows<T>,
                    {.x = x + begin * width,
                     .y = y.values + begin * width,
                     .rows = end - begin,
                     .first = begin % time,
                     .time = time,
                     .heads = attributes.heads,
                     .pairs = width / attributes.heads / 2,
                     .turns = turns,
                     .halves = attributes.pairs == RotaryPairs::halves,
                     .backwards = backwards,
                     .add = y.add});
  });
}

void rotary_backward(Record& r) {
  dispatch_real(r.in(0).dtype, rotary_info.name, [&]<class T>(T) {
    turn<T>(r.in(0).shape, r.attributes<RotaryAttributes>(), r.saved(0).values<Turn<T>>(), r.saved(0).shape()[1],
            r.grad_out<T>(), r.grad_in<T>(0), true);
  });
}

void check_rotary(const Tensor& x, const RotaryOptions& options) {
  check_defined(rotary_info.name, x, "x");
  if (x.rank() < 2)
    throw ShapeError(text("rotary: ", describe_operand("x", x), " must be [..., time, features]; reshape it"));
  const std::int64_t features = x.dim(-1), features_of_pairs = std::int64_t{2} * options.heads;
  if (options.heads < 1 || features % features_of_pairs != 0)
    throw ShapeError(text("rotary: ", options.heads, " heads do not divide the last axis of ", describe_operand("x", x),
                          " into pairs of features; choose heads of an even size"));
  const std::int64_t size = features / options.heads;
  if (options.size < 0 || options.size > size || options.size % 2 != 0)
    throw ShapeError(text("rotary: a size of ", options.size, " is not an even number of the ", size,
                          " features of a head of ", describe_operand("x", x)));
  if (!(options.base > 0) || !std::isfinite(options.base))
    throw ValueError(text("rotary: the base is ", options.base, "; give a positive number"));
  if (options.positions.defined()) check_integers(rotary_info.name, options.positions, "positions", "positions");
}

void check_tables(const Tensor& positions, std::int64_t size, const RotaryOptions& options) {
  const Tensor &cosines = options.cosines, &sines = options.sines;
  if (!cosines.defined() && !sines.defined()) return;
  check_defined(rotary_info.name, {{&cosines, "cosines"}, {&sines, "sines"}});
  if (cosines.rank() != 2 || cosines.shape() != sines.shape() || cosines.dim(1) != size / 2)
    throw ShapeError(text("rotary: ", describe_operand("cosines", cosines), " and ", describe_operand("sines", sines),
                          " must be [positions, ", size / 2, "], a column for each pair of features; reshape them"));
  check_real(rotary_info.name, cosines, "cosines");
  check_real(rotary_info.name, sines, "sines");
  for (const std::int64_t position : positions.values<std::int64_t>())
    if (position < 0 || position >= cosines.dim(0))
      throw IndexError(text("rotary: ", describe_operand("cosines", cosines), " has no row of position ", position,
                            "; give longer tables or other positions"));
}

/// rotary of the first features of each head, beside the others.
Tensor rotary_of_part(const Tensor& x, RotaryOptions options) {
  const std::int64_t turned = std::exchange(options.size, 0), size = x.dim(-1) / options.heads;
  const Shape heads = x.shape().replaced(x.rank() - 1, options.heads).inserted(x.rank(), size);
  const Tensors parts = split(reshape(x, heads), {turned, size - turned}, -1);
  const Tensor first = reshape(parts[0], x.shape().replaced(x.rank() - 1, options.heads * turned));
  const Tensor y = reshape(rotary(first, options), parts[0].shape());
  return reshape(concat({y, parts[1]}, -1), x.shape());
}

}  // namespace

Tensor rotary(const Tensor& x, const RotaryOptions& options) {
  check_rotary(x, options);
  const std::int64_t size = x.dim(-1) / options.heads, turned = options.size == 0 ? size : options.size;
  const Tensor positions = positions_of(x, options);
  check_tables(positions, turned, options);
  if (turned != size) return rotary_of_part(x, options);
  const RotaryAttributes attributes{options.heads, options.first, options.base, options.pairs,
                                    options.positions.defined() || options.cosines.defined()};
  Tensor y, turns;
  dispatch_real(x, "x", rotary_info.name, [&]<class T>(T) {
    using Turn = Turn<T>;
    y = empty_like(x);
    turns = turns_of<Turn>(positions, size, options);
    turn<T>(x.shape(), attributes, turns.values<Turn>().data(), positions.numel(), x.values<T>().data(),
            {OpAccess::values<T>(y), false}, false);
  });
  record(rotary_info, rotary_backward, {&x}, {&y}, {&turns}, attributes);
  return y;
}

}  // namespace retrace
