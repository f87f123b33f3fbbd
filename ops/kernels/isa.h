// The kernels of one instruction set, as a table of function pointers, and the choice of a table for this machine.
//
// To add a kernel: declare it in isa_functions.h, define it in a file of its own that CMake compiles once for each
// instruction set, and add a line to its part of the table here (functions over arrays: see elementwise.h). A new part
// also needs its line at the end of isa_table.cpp and of isa.cpp.
// Such a file keeps everything in RETRACE_ISA_NAMESPACE or an anonymous namespace: the linker keeps one copy of an
// inline function that several files share, and that copy could hold instructions which this machine does not have.
#pragma once

#include <retrace/ops/attention/head.h>
#include <retrace/ops/cross_entropy.h>
#include <retrace/ops/gated_memory/slot.h>
#include <retrace/ops/gru.h>
#include <retrace/ops/kernels/adam.h>
#include <retrace/ops/kernels/elementwise.h>
#include <retrace/ops/kernels/gemm.h>
#include <retrace/ops/layer_norm/rows.h>
#include <retrace/ops/lstm.h>
#include <retrace/ops/rotary.h>
#include <retrace/ops/softmax.h>

#include <string_view>
#include <type_traits>
#include <vector>

namespace retrace::kernels {

template <class T> using GemmFunction = void(GemmShape, GemmOperand<T>, GemmOperand<T>, GemmResult<T>);

/// Panels of a right factor; see pack_right_factor.
template <class T> using PackFunction = void(std::int64_t k, std::int64_t n, GemmOperand<T> b, T* panels);

/// A kernel that takes its arguments as one struct, for both types.
template <template <class> class Args> struct Kernel {
  void (*of_floats)(const Args<float>& args);
  void (*of_doubles)(const Args<double>& args);

  /// The one for T.
  template <class T> auto of() const {
    if constexpr (std::is_same_v<T, float>)
      return of_floats;
    else
      return of_doubles;
  }
};

/// The properties of an instruction set.
struct IsaTraits {
  const char* name;  ///< as in RETRACE_ISA
  bool fused;        ///< multiply-adds round once
  std::int64_t vector_bytes;
};

// The kernels in parts: a program that is linked statically contains the parts that it uses.
struct GemmKernels {
  GemmFunction<float>* gemm_float;
  GemmFunction<double>* gemm_double;
  PackFunction<float>* pack_float;
  PackFunction<double>* pack_double;
};
struct MapKernelsOfTypes {
  const MapKernels<float>* maps_float;
  const MapKernels<double>* maps_double;
};
struct SoftmaxKernels {
  Kernel<SoftmaxRows> softmax;
  Kernel<SoftmaxGradientRows> softmax_gradient;
};
struct LossKernels {
  Kernel<LogSumExpRows> log_sum_exp;
  Kernel<ScaledExp> scaled_exp;
};
struct LayerNormKernels {
  Kernel<LayerNormRows> layer_norm;
  Kernel<LayerNormGradientRows> layer_norm_gradient;
};
struct LstmKernels {
  Kernel<LstmForward> lstm_forward;
  Kernel<LstmBackward> lstm_backward;
};
struct GruKernels {
  Kernel<GruForward> gru_forward;
  Kernel<GruBackward> gru_backward;
};
struct GatedMemoryKernels {
  Kernel<SlotForward> slot_forward;
  Kernel<SlotBackward> slot_backward;
};
struct RotaryKernels {
  Kernel<TurnedRows> turn_rows;
};
struct UpdateKernels {
  Kernel<AdamStep> adam;
  Kernel<FiniteCheck> check_finite;
};
struct HeadKernels {
  Kernel<HeadForward> head_forward;
  Kernel<HeadBackward> head_backward;
};

/// All kernels of one instruction set.
struct KernelTable : IsaTraits,
                     GemmKernels,
                     MapKernelsOfTypes,
                     SoftmaxKernels,
                     LossKernels,
                     LayerNormKernels,
                     LstmKernels,
                     GruKernels,
                     GatedMemoryKernels,
                     RotaryKernels,
                     UpdateKernels,
                     HeadKernels {};

/// The best table that this machine runs, or the one that the environment variable RETRACE_ISA names (v2, v3 or v4 for
/// x86-64; generic elsewhere). Chosen at the first call. Throws ValueError if the name is unknown or not supported
/// here, or if the library was built for no instruction set that this machine has.
const KernelTable& kernel_table();

/// A part of that table.
template <class Part> const Part& kernels_of();

/// The table that this machine would use if RETRACE_ISA were `name`; an empty name asks for the best.
const KernelTable& choose_kernel_table(std::string_view name);

/// The names of all tables of this build, best last. The machine may not run all of them.
std::vector<const char*> built_names();

/// Every table that this machine can run, best last.
std::vector<const KernelTable*> supported_kernel_tables();

}  // namespace retrace::kernels
