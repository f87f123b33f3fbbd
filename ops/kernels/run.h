// How an op calls a kernel. Each has a plain twin, the same maths as a loop over numbers, in namespace plain; both
// agree to a few units in the last place.
#pragma once

#include <type_traits>

#include <retrace/core/tensor/dual.h>
#include <retrace/ops/kernels/isa.h>

/// Compiles a plain loop for all types of numbers, for other files to call.
#define RETRACE_INSTANTIATE_PLAIN(loop, Args)     \
  template void plain::loop(const Args<float>&);  \
  template void plain::loop(const Args<double>&); \
  template void plain::loop(const Args<retrace::Dual>&)

namespace retrace::kernels {

/// Runs a kernel of this machine's instruction set on floats and doubles, and its plain twin on any other type:
///   run<T>(&KernelTable::softmax, plain::softmax<T>, {.x = x, .y = y, .rows = rows, .length = length});
template <class T, template <class> class Args, class Part>
void run(Kernel<Args> Part::*kernel, void (*plain)(const Args<T>&), const std::type_identity_t<Args<T>>& args) {
  if constexpr (std::is_same_v<T, float>)
    (kernels_of<Part>().*kernel).of_floats(args);
  else if constexpr (std::is_same_v<T, double>)
    (kernels_of<Part>().*kernel).of_doubles(args);
  else
    plain(args);
}

}  // namespace retrace::kernels
