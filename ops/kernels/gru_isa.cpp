// Compiled once for each instruction set; see isa.h.
#include <retrace/ops/kernels/isa_functions.h>
#include <retrace/ops/kernels/isa_rows.h>

namespace retrace::kernels::RETRACE_ISA_NAMESPACE {

template <class T> void run(const GruForward<T>& row) {
  const GruForward<T> args = row;
  const Index size = args.size;
  for_each_vector<T>(size, [&](Index k, auto part) {
    const auto sum_at = [&](Index at) { return part.load_from(args.p + at) + part.load_from(args.q + at); };
    const Vector<T> r = vector_sigmoid<T>(sum_at(k)), z = vector_sigmoid<T>(sum_at(size + k));
    const Vector<T> n =
        vector_tanh<T>(part.load_from(args.p + 2 * size + k) + r * part.load_from(args.q + 2 * size + k));
    part.store_to(args.p + k, r);
    part.store_to(args.p + size + k, z);
    part.store_to(args.p + 2 * size + k, n);
    part.store_to(args.h + k, n + z * (part.load_from(args.h_before + k) - n));
  });
}

template <class T> void run(const GruBackward<T>& row) {
  const GruBackward<T> args = row;
  const Index size = args.size;
  for_each_vector<T>(size, [&](Index k, auto part) {
    const Vector<T> r = part.load_from(args.gates + k), z = part.load_from(args.gates + size + k);
    const Vector<T> n = part.load_from(args.gates + 2 * size + k);
    Vector<T> dh = part.load_from(args.dh + k);
    if (args.dy != nullptr) dh += part.load_from(args.dy + k);
    const Vector<T> dn = dh * (1 - z) * (1 - n * n);
    const Vector<T> dr = dn * part.load_from(args.q + 2 * size + k) * r * (1 - r);
    const Vector<T> dz = dh * (part.load_from(args.h_before + k) - n) * z * (1 - z);
    part.store_to(args.dp + k, dr);
    part.store_to(args.dq + k, dr);
    part.store_to(args.dp + size + k, dz);
    part.store_to(args.dq + size + k, dz);
    part.store_to(args.dp + 2 * size + k, dn);
    part.store_to(args.dq + 2 * size + k, dn * r);
    part.store_to(args.dh + k, dh * z);
  });
}

RETRACE_INSTANTIATE_KERNEL(GruForward);
RETRACE_INSTANTIATE_KERNEL(GruBackward);

}  // namespace retrace::kernels::RETRACE_ISA_NAMESPACE
