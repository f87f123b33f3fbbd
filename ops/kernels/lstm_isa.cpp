// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

template <class T> void run(const LstmForward<T>& row) {
  const LstmForward<T> args = row;
  const Index size = args.size;
  for_each_vector<T>(size, [&](Index k, auto part) {
    const Vector<T> i = vector_sigmoid<T>(part.load_from(args.z + k)),
                    f = vector_sigmoid<T>(part.load_from(args.z + size + k));
    const Vector<T> g = vector_tanh<T>(part.load_from(args.z + 2 * size + k));
    const Vector<T> o = vector_sigmoid<T>(part.load_from(args.z + 3 * size + k));
    const Vector<T> c = f * part.load_from(args.c_before + k) + i * g;
    part.store_to(args.z + k, i);
    part.store_to(args.z + size + k, f);
    part.store_to(args.z + 2 * size + k, g);
    part.store_to(args.z + 3 * size + k, o);
    part.store_to(args.c + k, c);
    part.store_to(args.h + k, o * vector_tanh<T>(c));
  });
}

template <class T> void run(const LstmBackward<T>& row) {
  const LstmBackward<T> args = row;
  const Index size = args.size;
  for_each_vector<T>(size, [&](Index k, auto part) {
    const Vector<T> i = part.load_from(args.gates + k), f = part.load_from(args.gates + size + k);
    const Vector<T> g = part.load_from(args.gates + 2 * size + k), o = part.load_from(args.gates + 3 * size + k);
    const Vector<T> tanh_c = vector_tanh<T>(part.load_from(args.c + k));
    Vector<T> dh = part.load_from(args.dh + k);
    if (args.dy != nullptr) dh += part.load_from(args.dy + k);
    const Vector<T> through_c = part.load_from(args.dc + k) + dh * o * (1 - tanh_c * tanh_c);
    part.store_to(args.dz + k, through_c * g * i * (1 - i));
    part.store_to(args.dz + size + k, through_c * part.load_from(args.c_before + k) * f * (1 - f));
    part.store_to(args.dz + 2 * size + k, through_c * i * (1 - g * g));
    part.store_to(args.dz + 3 * size + k, dh * tanh_c * o * (1 - o));
    part.store_to(args.dc + k, through_c * f);
    part.store_to(args.dh + k, Vector<T>{});
  });
}

RETRACE_INSTANTIATE_KERNEL(LstmForward);
RETRACE_INSTANTIATE_KERNEL(LstmBackward);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
