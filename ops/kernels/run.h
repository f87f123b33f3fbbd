// How an op calls a kernel.
#pragma once

#include <type_traits>

#include <retrace/ops/kernels/isa.h>

namespace retrace::kernels {

/// Runs a kernel of this machine's instruction set on floats and doubles, and the op's plain loops on any other type:
///   run<T>(&KernelTable::softmax, softmax_plain<T>, {.x = x, .y = y, .rows = rows, .length = length});
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
