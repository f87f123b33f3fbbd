// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

template <class T> void slot_forward_row(const SlotForward<T>& row) {
  const SlotForward<T> at = row;
  for_each_vector<T>(at.size, [&](Index k, auto part) {
    const Vector<T> i = vector_sigmoid<T>(part.load_from(at.p + k) + part.load_from(at.q + k) + at.input_bias);
    const Vector<T> f = at.coupled ? 1 - i
                                   : vector_sigmoid<T>(part.load_from(at.p + at.size + k) +
                                                       part.load_from(at.q + at.size + k) + at.forget_bias);
    part.store_to(at.next + k, i * vector_tanh<T>(part.load_from(at.c + k)) + f * part.load_from(at.m + k));
    part.store_to(at.i + k, i);
    if (!at.coupled) part.store_to(at.f + k, f);
  });
}

template <class T> void slot_backward_row(const SlotBackward<T>& row) {
  const SlotBackward<T> at = row;
  for_each_vector<T>(at.size, [&](Index k, auto part) {
    const Vector<T> i = part.load_from(at.i + k), f = at.coupled ? 1 - i : part.load_from(at.f + k);
    const Vector<T> tanh_c = vector_tanh<T>(part.load_from(at.c + k));
    const Vector<T> dnext = at.dnext == nullptr ? Vector<T>{} : part.load_from(at.dnext + k);
    Vector<T> di = dnext * tanh_c, df = dnext * part.load_from(at.m + k);
    if (at.di != nullptr) di += part.load_from(at.di + k);
    if (at.df != nullptr) df += part.load_from(at.df + k);
    part.store_to(at.dz + k, (at.coupled ? di - df : di) * i * (1 - i));
    if (!at.coupled) part.store_to(at.dz + at.size + k, df * f * (1 - f));
    const auto put = [&](T* to, bool add, Vector<T> value) {
      if (to != nullptr) part.store_to(to + k, add ? part.load_from(to + k) + value : value);
    };
    put(at.dm, at.add_m, dnext * f);
    put(at.dc, at.add_c, dnext * i * (1 - tanh_c * tanh_c));
  });
}

template void slot_forward_row(const SlotForward<float>&);
template void slot_forward_row(const SlotForward<double>&);
template void slot_backward_row(const SlotBackward<float>&);
template void slot_backward_row(const SlotBackward<double>&);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
