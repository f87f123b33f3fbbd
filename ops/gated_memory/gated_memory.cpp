// The gates of a relational memory in one op, and the same composed of others.
#include <retrace/ops/gated_memory/operands.h>
#include <retrace/ops/gated_memory/sizes.h>
#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/logistic.h>
#include <retrace/ops/op.h>

namespace retrace {

// i = sigmoid(p + q + input_bias), f = sigmoid(p + q + forget_bias) or 1 - i, next = i tanh c + f m
template <class T> void plain::slot_forward(const SlotForward<T>& args) {
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

struct GatedMemoryAttributes {
  bool coupled;
  int input_bias = -1, forget_bias = -1;  // which inputs they are; -1: not given
};

Formulas gated_memory_formulas(const Record& r) {
  const GatedMemoryAttributes& attributes = r.attributes<GatedMemoryAttributes>();
  const bool has_bias_i = attributes.input_bias > 0, has_bias_f = attributes.forget_bias > 0;
  const std::string i = has_bias_i ? "sigmoid(z_i + b_i)" : "sigmoid z_i";
  const std::string f = attributes.coupled ? "1 - i" : has_bias_f ? "sigmoid(z_f + b_f)" : "sigmoid z_f";
  return {text("z = p + q, i = ", i, ", f = ", f, ", m' = i tanh c + f m"),
          text("di += dm' tanh c, df += dm' m, dm = dm' f, dc = dm' i (1 - (tanh c)^2), ",
               attributes.coupled ? "dz_i = (di - df) i (1 - i)" : "dz_i = di i (1 - i), dz_f = df f (1 - f)",
               ", dp = dz, dq = sum dz along axis -2", has_bias_i ? ", db_i = sum dz_i" : "",
               has_bias_f ? ", db_f = sum dz_f" : "")};
}
AttributeList gated_memory_attributes(const Record& r) {
  const GatedMemoryAttributes& attributes = r.attributes<GatedMemoryAttributes>();
  const bool has_bias_i = attributes.input_bias > 0, has_bias_f = attributes.forget_bias > 0;
  return {{"inputs", text("m, c, p, q", has_bias_i ? ", b_i" : "", has_bias_f ? ", b_f" : "")},
          {"coupled", attributes.coupled}};
}
constexpr OpInfo gated_memory_info{
    "gated_memory",
    "z = p + q, i = sigmoid(z_i + b_i), f = sigmoid(z_f + b_f), m' = i tanh c + f m",
    "di += dm' tanh c, df += dm' m, dm = dm' f, dc = dm' i (1 - (tanh c)^2), dz_i = di i (1 - i), "
    "dz_f = df f (1 - f), dp = dz, dq = sum dz along axis -2, db_i = sum dz_i, db_f = sum dz_f",
    "m, c, p, q, b_i, b_f",
    gated_memory_formulas,
    gated_memory_attributes};

// saved: 0 m, 1 c, 2 i, 3 f
void gated_memory_backward(Record& r) {
  dispatch_real(r.in(0).dtype, gated_memory_info.name, [&]<class T>(T) {
    const GatedMemoryAttributes& attributes = r.attributes<GatedMemoryAttributes>();
    const GatedMemorySizes n(r.in(0).shape, r.in(1).shape, r.in(2).shape[-1]);
    const Tensor dz_of_all = empty(r.in(2).shape, r.in(2).dtype);
    T* dz = OpAccess::values<T>(dz_of_all);
    const T *m = r.saved(0).values<T>(), *c = r.saved(1).values<T>(), *i = r.saved(2).values<T>();
    const T* f = r.saved(3).values<T>();
    const T *dnext = r.grad_out<T>(0), *di = r.grad_out<T>(1), *df = attributes.coupled ? nullptr : r.grad_out<T>(2);
    const GradientSlot<T> unwanted{nullptr, false};
    const GradientSlot<T> dm = r.wants(0) ? r.flow<T>(0).dx : unwanted;
    const GradientSlot<T> dc = !r.wants(1)               ? unwanted
                               : n.candidates == n.slots ? r.grad_in<T>(1)
                                                         : r.grad_in<T>(1, Begin::zeroed);
    for_each_slot(n, [&](const Slot& s) {
      kernels::run<T>(&kernels::KernelTable::slot_backward, plain::slot_backward<T>,
                      {.m = s.units(m),
                       .c = s.candidate(c),
                       .i = s.units(i),
                       .f = s.units(f),
                       .dnext = s.units(dnext),
                       .di = s.units(di),
                       .df = s.units(df),
                       .dz = s.gates(dz),
                       .dm = s.units(dm.values),
                       .dc = s.candidate(dc.values),
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
  });
}

template <class T>
void gated_memory_forward(const GatedMemoryOperands& in, bool coupled, const GatedMemoryResult& out) {
  const GatedMemorySizes n(in.memory.shape(), in.candidate.shape(), in.of_memory.dim(-1));
  const auto number = [](const Tensor& x) { return x.defined() ? x.values<T>()[0] : T(0); };
  const T *m = in.memory.values<T>().data(), *c = in.candidate.values<T>().data();
  const T *p = in.of_memory.values<T>().data(), *q = in.of_input.values<T>().data();
  const T input_bias = number(in.input_bias), forget_bias = number(in.forget_bias);
  T *next = OpAccess::values<T>(out.memory), *i = OpAccess::values<T>(out.input_gate);
  T* f = coupled ? nullptr : OpAccess::values<T>(out.forget_gate);
  for_each_slot(n, [&](const Slot& s) {
    kernels::run<T>(&kernels::KernelTable::slot_forward, plain::slot_forward<T>,
                    {.m = s.units(m),
                     .c = s.candidate(c),
                     .p = s.gates(p),
                     .q = q + s.sample * n.gates,
                     .next = s.units(next),
                     .i = s.units(i),
                     .f = s.units(f),
                     .size = n.units,
                     .input_bias = input_bias,
                     .forget_bias = forget_bias,
                     .coupled = coupled});
  });
}

}  // namespace

GatedMemoryResult gated_memory(const Tensor& memory, const Tensor& candidate, const Tensor& gates_of_memory,
                               const Tensor& gates_of_input, const GatedMemoryOptions& options) {
  GatedMemoryOperands in{memory, candidate, gates_of_memory, gates_of_input, options.input_bias, options.forget_bias};
  check(in, options.coupled);
  widen(gated_memory_info.name, "memory",
        {&in.memory, &in.candidate, &in.of_memory, &in.of_input, &in.input_bias, &in.forget_bias});
  const bool gates_of_units = in.of_memory.dim(-1) == (options.coupled ? 1 : 2) * memory.dim(-1);
  if (expand_fused() || !gates_of_units) return composed(in, options.coupled);
  GatedMemoryResult result{empty_like(in.memory), empty_like(in.memory), {}};
  if (!options.coupled) result.forget_gate = empty_like(in.memory);
  dispatch_real(in.memory.dtype(), gated_memory_info.name,
                [&]<class T>(T) { gated_memory_forward<T>(in, options.coupled, result); });
  GivenTensors inputs{{in.memory, in.candidate, in.of_memory, in.of_input}};
  const int input_bias = inputs.add(in.input_bias), forget_bias = inputs.add(in.forget_bias);
  const GatedMemoryAttributes attributes{options.coupled, input_bias, forget_bias};
  const auto& [next, i, f] = result;
  if (options.coupled)
    record(gated_memory_info, gated_memory_backward, inputs.given, {&next, &i},
           {&in.memory, &in.candidate, &i, nullptr}, attributes);
  else
    record(gated_memory_info, gated_memory_backward, inputs.given, {&next, &i, &f}, {&in.memory, &in.candidate, &i, &f},
           attributes);
  return result;
}

}  // namespace retrace
