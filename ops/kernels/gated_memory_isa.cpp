// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

template <class T> void run(const SlotForward<T>& row) {
  const SlotForward<T> args = row;
  for_each_vector<T>(args.size, [&](Index k, auto part) {
    const Vector<T> i = vector_sigmoid<T>(part.load_from(args.p + k) + part.load_from(args.q + k) + args.input_bias);
    const Vector<T> f = args.coupled ? 1 - i
                                     : vector_sigmoid<T>(part.load_from(args.p + args.size + k) +
                                                         part.load_from(args.q + args.size + k) + args.forget_bias);
    part.store_to(args.next + k, i * vector_tanh<T>(part.load_from(args.c + k)) + f * part.load_from(args.m + k));
    part.store_to(args.i + k, i);
    if (!args.coupled) part.store_to(args.f + k, f);
  });
}

template <class T> void run(const SlotBackward<T>& row) {
  const SlotBackward<T> args = row;
  for_each_vector<T>(args.size, [&](Index k, auto part) {
    const Vector<T> i = part.load_from(args.i + k), f = args.coupled ? 1 - i : part.load_from(args.f + k);
    const Vector<T> tanh_c = vector_tanh<T>(part.load_from(args.c + k));
    const Vector<T> dnext = args.dnext == nullptr ? Vector<T>{} : part.load_from(args.dnext + k);
    Vector<T> di = dnext * tanh_c, df = dnext * part.load_from(args.m + k);
    if (args.di != nullptr) di += part.load_from(args.di + k);
    if (args.df != nullptr) df += part.load_from(args.df + k);
    part.store_to(args.dz + k, (args.coupled ? di - df : di) * i * (1 - i));
    if (!args.coupled) part.store_to(args.dz + args.size + k, df * f * (1 - f));
    const auto put = [&](T* to, bool add, Vector<T> value) {
      if (to != nullptr) part.store_to(to + k, add ? part.load_from(to + k) + value : value);
    };
    put(args.dm, args.add_m, dnext * f);
    put(args.dc, args.add_c, dnext * i * (1 - tanh_c * tanh_c));
  });
}

RETRACE_INSTANTIATE_KERNEL(SlotForward);
RETRACE_INSTANTIATE_KERNEL(SlotBackward);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
