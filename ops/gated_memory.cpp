// The gates of a relational memory in one op, and the same composed of others.
#include <retrace/core/base/parallel.h>
#include <retrace/core/tape/attribute.h>
#include <retrace/core/tensor/dual.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/loops/ordered_sum.h>
#include <retrace/ops/ops.h>

namespace retrace {

// i = sigmoid(p + q + input_bias), f = sigmoid(p + q + forget_bias) or 1 - i, next = i tanh c + f m
template <class T> void plain::slot_forward(const SlotForward<T>& args) {
  using std::tanh;
  for (std::int64_t k = 0; k < args.size; ++k) {
    const T i = logistic(args.p[k] + args.q[k] + args.input_bias);
    const T f = args.coupled ? 1 - i : logistic(args.p[args.size + k] + args.q[args.size + k] + args.forget_bias);
    args.next[k] = i * tanh(args.c[k]) + f * args.m[k];
    args.i[k] = i;
    if (!args.coupled) args.f[k] = f;
  }
}

// di += dnext tanh c, df += dnext m, dz = (di i (1 - i), df f (1 - f)), dm = dnext f, dc = dnext i (1 - tanh^2 c)
template <class T> void plain::slot_backward(const SlotBackward<T>& args) {
  using std::tanh;
  const auto put = [](T* to, std::int64_t k, bool add, T value) {
    if (to != nullptr) to[k] = add ? to[k] + value : value;
  };
  for (std::int64_t k = 0; k < args.size; ++k) {
    const T i = args.i[k], f = args.coupled ? 1 - i : args.f[k], tanh_c = tanh(args.c[k]);
    const T dnext = args.dnext == nullptr ? T(0) : args.dnext[k];
    T di = dnext * tanh_c, df = dnext * args.m[k];
    if (args.di != nullptr) di += args.di[k];
    if (args.df != nullptr) df += args.df[k];
    args.dz[k] = (args.coupled ? di - df : di) * i * (1 - i);
    if (!args.coupled) args.dz[args.size + k] = df * f * (1 - f);
    put(args.dm, k, args.add_m, dnext * f);
    put(args.dc, k, args.add_c, dnext * i * (1 - tanh_c * tanh_c));
  }
}

RETRACE_INSTANTIATE_PLAIN(slot_forward, SlotForward);
RETRACE_INSTANTIATE_PLAIN(slot_backward, SlotBackward);

namespace {

constexpr std::int64_t grain = 1024;  // units that are worth a thread

struct Attributes {
  bool coupled;
  int input_bias = -1, forget_bias = -1;  // which inputs they are; -1: not given
};

Formulas formulas(const Record& r) {
  const Attributes& attributes = r.attributes<Attributes>();
  const bool has_bias_i = attributes.input_bias > 0, has_bias_f = attributes.forget_bias > 0;
  const std::string i = has_bias_i ? "sigmoid(z_i + b_i)" : "sigmoid z_i";
  const std::string f = attributes.coupled ? "1 - i" : has_bias_f ? "sigmoid(z_f + b_f)" : "sigmoid z_f";
  return {text("z = p + q, i = ", i, ", f = ", f, ", m' = i tanh c + f m"),
          text("di += dm' tanh c, df += dm' m, dm = dm' f, dc = dm' i (1 - (tanh c)^2), ",
               attributes.coupled ? "dz_i = (di - df) i (1 - i)" : "dz_i = di i (1 - i), dz_f = df f (1 - f)",
               ", dp = dz, dq = sum dz along axis -2", has_bias_i ? ", db_i = sum dz_i" : "",
               has_bias_f ? ", db_f = sum dz_f" : "")};
}
AttributeList attribute_list(const Record& r) {
  const Attributes& attributes = r.attributes<Attributes>();
  const bool has_bias_i = attributes.input_bias > 0, has_bias_f = attributes.forget_bias > 0;
  return {{"inputs", text("m, c, p, q", has_bias_i ? ", b_i" : "", has_bias_f ? ", b_f" : "")},
          {"coupled", attributes.coupled}};
}
constexpr OpInfo info{"gated_memory",
                      "z = p + q, i = sigmoid(z_i + b_i), f = sigmoid(z_f + b_f), m' = i tanh c + f m",
                      "di += dm' tanh c, df += dm' m, dm = dm' f, dc = dm' i (1 - (tanh c)^2), dz_i = di i (1 - i), "
                      "dz_f = df f (1 - f), dp = dz, dq = sum dz along axis -2, db_i = sum dz_i, db_f = sum dz_f",
                      "m, c, p, q, b_i, b_f",
                      formulas,
                      attribute_list};

struct Sizes {
  std::int64_t samples, slots, units, gates;
  std::int64_t candidates;  // rows of a sample's candidate: slots or more

  Sizes(const Shape& memory, const Shape& candidate, std::int64_t gates_of_slot)
      : samples(memory.first(memory.rank() - 2).numel()),
        slots(memory[-2]),
        units(memory[-1]),
        gates(gates_of_slot),
        candidates(candidate[-2]) {}

  /// Where the candidate of a slot begins.
  std::int64_t first_of_candidate(std::int64_t sample, std::int64_t row) const {
    return (row + sample * (candidates - slots)) * units;
  }

  /// body(sample, row) for each slot, over threads; a row is a slot of all samples.
  template <class Body> void for_each_slot(Body&& body) const {
    parallel_for(samples, grain / (slots * units + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin * slots; row < end * slots; ++row) body(row / slots, row);
    });
  }
};

/// dq += the sum of dz over the slots of each sample.
template <class T> void add_sums_over_slots(const Sizes& n, const T* dz, T* dq) {
  for (std::int64_t sample = 0; sample < n.samples; ++sample)
    kernels::add_rows(dz + sample * n.slots * n.gates, n.gates, n.slots, n.gates, dq + sample * n.gates);
}

/// The sum over all slots of dz's units from `first` on.
template <class T> T sum_of_gate(const Sizes& n, const T* dz, std::int64_t first) {
  return ordered_sum<T>(n.samples * n.slots, [&](std::int64_t row) {
    const T* units = dz + row * n.gates + first;
    return ordered_sum<T>(n.units, [=](std::int64_t k) { return units[k]; });
  });
}

// saved: 0 m, 1 c, 2 i, 3 f
template <class T> void backward_of(Record& r) {
  const Attributes& attributes = r.attributes<Attributes>();
  const Sizes n(r.in(0).shape, r.in(1).shape, r.in(2).shape[-1]);
  const Tensor dz_of_all = empty(r.in(2).shape, r.in(2).dtype);
  T* dz = OpAccess::values<T>(dz_of_all);
  const T *m = r.saved(0).values<T>(), *c = r.saved(1).values<T>(), *i = r.saved(2).values<T>();
  const T* f = r.saved(3) ? r.saved(3).values<T>() : nullptr;
  const T *dnext = r.grad_out<T>(0), *di = r.grad_out<T>(1), *df = attributes.coupled ? nullptr : r.grad_out<T>(2);
  const GradientSlot<T> unwanted{nullptr, false};
  const GradientSlot<T> dm = r.wants(0) ? r.flow<T>(0).dx : unwanted;
  const GradientSlot<T> dc = !r.wants(1)               ? unwanted
                             : n.candidates == n.slots ? r.grad_in<T>(1)
                                                       : r.grad_in<T>(1, Begin::zeroed);
  n.for_each_slot([&](std::int64_t sample, std::int64_t row) {
    const auto at_or_null = [](auto* x, std::int64_t first) { return x == nullptr ? nullptr : x + first; };
    const auto of = [&](auto* x) { return at_or_null(x, row * n.units); };
    const auto of_candidate = [&](auto* x) { return at_or_null(x, n.first_of_candidate(sample, row)); };
    kernels::run<T>(&kernels::KernelTable::slot_backward, plain::slot_backward<T>,
                    {.m = of(m),
                     .c = of_candidate(c),
                     .i = of(i),
                     .f = of(f),
                     .dnext = of(dnext),
                     .di = of(di),
                     .df = of(df),
                     .dz = dz + row * n.gates,
                     .dm = of(dm.values),
                     .dc = of_candidate(dc.values),
                     .size = n.units,
                     .coupled = attributes.coupled,
                     .add_m = dm.add,
                     .add_c = dc.add});
  });
  if (r.wants(3)) add_sums_over_slots<T>(n, dz, r.grad_in<T>(3, Begin::zeroed).values);
  const auto put_sum = [&](int input, std::int64_t first) {
    if (input < 0 || !r.wants(input)) return;
    const T sum = sum_of_gate(n, dz, first);
    r.grad_in<T>(input).put(1, [=](std::int64_t) { return sum; });
  };
  put_sum(attributes.input_bias, 0);
  put_sum(attributes.forget_bias, n.units);
  if (r.wants(2)) r.add(2, dz_of_all);
}

void backward(Record& r) {
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) { backward_of<decltype(zero)>(r); });
}

struct Operands {
  Tensor memory, candidate, of_memory, of_input, input_bias, forget_bias;
};

void check(const Operands& in, bool coupled) {
  check_defined(info.name, in.memory, "memory");
  check_defined(info.name, in.candidate, "candidate");
  check_defined(info.name, in.of_memory, "gates_of_memory");
  check_defined(info.name, in.of_input, "gates_of_input");
  const Tensor &m = in.memory, &p = in.of_memory;
  const auto operands = [&] {
    return text("gated_memory: ", describe_operand("memory", m), ", ", describe_operand("candidate", in.candidate),
                ", ", describe_operand("gates_of_memory", p), " and ", describe_operand("gates_of_input", in.of_input));
  };
  const Shape& c = in.candidate.shape();
  const int slot_axis = m.rank() - 2;
  if (slot_axis < 0 || c.rank() != m.rank() || c[slot_axis] < m.dim(slot_axis) ||
      c.replaced(slot_axis, m.dim(slot_axis)) != m.shape())
    throw ShapeError(text(operands(),
                          ": memory and candidate must be [..., slots, units], the candidate with as many "
                          "slots or more; reshape them"));
  const std::int64_t both = coupled ? 1 : 2, of_units = both * m.dim(-1), last = p.rank() == 0 ? 0 : p.dim(-1);
  if (p.rank() != m.rank() || p.shape().first(p.rank() - 1) != m.shape().first(m.rank() - 1) ||
      (last != of_units && last != both))
    throw ShapeError(text(operands(), ": the gates of the memory must be [..., slots, ", of_units,
                          "], or [..., slots, ", both, "] for ", both, " a slot; reshape them"));
  const Shape of_input = p.shape().erased(p.rank() - 2);
  if (in.of_input.shape() != of_input)
    throw ShapeError(text(operands(), ": the gates of the input must be ", of_input, ", the same for every slot"));
  const auto check_bias = [&](const char* role, const Tensor& bias) {
    if (bias.defined() && bias.numel() != 1)
      throw ShapeError(text(operands(), ": ", describe_operand(role, bias), " must be one number"));
  };
  check_bias("input_bias", in.input_bias), check_bias("forget_bias", in.forget_bias);
  if (coupled && in.forget_bias.defined())
    throw ValueError("gated_memory: a coupled forget gate is 1 - i and has no bias; leave forget_bias out");
  check_real(info.name, m, "memory");
}

GatedMemoryResult composed(Operands in, bool coupled) {
  const std::int64_t slots = in.memory.dim(-2);
  if (in.candidate.dim(-2) > slots) in.candidate = split(in.candidate, {slots, in.candidate.dim(-2) - slots}, -2)[0];
  const Tensor z = in.of_memory + unsqueeze(in.of_input, -2);
  const int axis = z.rank() - 1;
  const auto biased = [](const Tensor& gate, const Tensor& bias) { return bias.defined() ? gate + bias : gate; };
  if (coupled) {
    const Tensor i = sigmoid(biased(z, in.input_bias));
    return {in.memory + i * (tanh(in.candidate) - in.memory), i, {}};
  }
  const std::int64_t size = z.dim(axis) / 2;
  const Tensors halves = split(z, {size, size}, axis);
  const Tensor i = sigmoid(biased(halves[0], in.input_bias)), f = sigmoid(biased(halves[1], in.forget_bias));
  const Tensor taken = i * tanh(in.candidate), kept = f * in.memory;
  return {taken + kept, i, f};
}

template <class T> void forward(const Operands& in, bool coupled, const GatedMemoryResult& out) {
  const Sizes n(in.memory.shape(), in.candidate.shape(), in.of_memory.dim(-1));
  const auto read = [](const Tensor& x) { return x.values<T>().data(); };
  const auto number = [](const Tensor& x) { return x.defined() ? x.values<T>()[0] : T(0); };
  const T *m = read(in.memory), *c = read(in.candidate), *p = read(in.of_memory), *q = read(in.of_input);
  T *next = OpAccess::values<T>(out.memory), *i = OpAccess::values<T>(out.input_gate);
  T* f = coupled ? nullptr : OpAccess::values<T>(out.forget_gate);
  n.for_each_slot([&, input_bias = number(in.input_bias), forget_bias = number(in.forget_bias)](std::int64_t sample,
                                                                                                std::int64_t row) {
    const std::int64_t first = row * n.units;
    kernels::run<T>(&kernels::KernelTable::slot_forward, plain::slot_forward<T>,
                    {.m = m + first,
                     .c = c + n.first_of_candidate(sample, row),
                     .p = p + row * n.gates,
                     .q = q + sample * n.gates,
                     .next = next + first,
                     .i = i + first,
                     .f = coupled ? nullptr : f + first,
                     .size = n.units,
                     .input_bias = input_bias,
                     .forget_bias = forget_bias,
                     .coupled = coupled});
  });
}

void record_of(const Operands& in, bool coupled, const GatedMemoryResult& out) {
  Attributes attributes{.coupled = coupled};
  Tensors inputs{in.memory, in.candidate, in.of_memory, in.of_input};
  const auto append = [&](const Tensor& bias) {
    if (!bias.defined()) return -1;
    inputs.push_back(bias);
    return static_cast<int>(inputs.size()) - 1;
  };
  attributes.input_bias = append(in.input_bias), attributes.forget_bias = append(in.forget_bias);
  if (coupled)
    record(info, backward, inputs, {&out.memory, &out.input_gate},
           {&in.memory, &in.candidate, &out.input_gate, nullptr}, attributes);
  else
    record(info, backward, inputs, {&out.memory, &out.input_gate, &out.forget_gate},
           {&in.memory, &in.candidate, &out.input_gate, &out.forget_gate}, attributes);
}

}  // namespace

GatedMemoryResult gated_memory(const Tensor& memory, const Tensor& candidate, const Tensor& gates_of_memory,
                               const Tensor& gates_of_input, const GatedMemoryOptions& options) {
  Operands in{memory, candidate, gates_of_memory, gates_of_input, options.input_bias, options.forget_bias};
  check(in, options.coupled);
  widen(info.name, "memory", {&in.memory, &in.candidate, &in.of_memory, &in.of_input, &in.input_bias, &in.forget_bias});
  const bool gates_of_units = in.of_memory.dim(-1) == (options.coupled ? 1 : 2) * memory.dim(-1);
  if (expand_fused() || !gates_of_units) return composed(in, options.coupled);
  GatedMemoryResult result{empty_like(in.memory), empty_like(in.memory), {}};
  if (!options.coupled) result.forget_gate = empty_like(in.memory);
  dispatch_real(in.memory.dtype(), info.name, [&](auto zero) { forward<decltype(zero)>(in, options.coupled, result); });
  record_of(in, options.coupled, result);
  return result;
}

}  // namespace retrace
