#include <retrace/core/base/error.h>
#include <retrace/ops/kernels/isa.h>

#include <cstdlib>

namespace retrace::kernels {

// The build says which tables there are: see RETRACE_ISAS in CMakeLists.txt.
#if defined(RETRACE_HAS_GENERIC)
namespace isa_generic {
template <class Part> const Part& part();
}
#endif
#if defined(RETRACE_HAS_V2)
namespace isa_v2 {
template <class Part> const Part& part();
}
#endif
#if defined(RETRACE_HAS_V3)
namespace isa_v3 {
template <class Part> const Part& part();
}
#endif
#if defined(RETRACE_HAS_V4)
namespace isa_v4 {
template <class Part> const Part& part();
}
#endif

#if defined(__x86_64__)

namespace {

bool all(auto... present) { return (... && (present != 0)); }

bool machine_has_v2() {
  return all(__builtin_cpu_supports("ssse3"), __builtin_cpu_supports("sse4.2"), __builtin_cpu_supports("popcnt"));
}
bool machine_has_v3() {
  return machine_has_v2() && all(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"),
                                 __builtin_cpu_supports("bmi"), __builtin_cpu_supports("bmi2"));
}
bool machine_has_v4() {
  return machine_has_v3() &&
         all(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"), __builtin_cpu_supports("avx512cd"),
             __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512vl"));
}

}  // namespace

#endif

namespace {

enum class Isa { generic, v2, v3, v4 };

std::vector<Isa> built() {
  std::vector<Isa> sets;
#if defined(RETRACE_HAS_GENERIC)
  sets.push_back(Isa::generic);
#endif
#if defined(RETRACE_HAS_V2)
  sets.push_back(Isa::v2);
#endif
#if defined(RETRACE_HAS_V3)
  sets.push_back(Isa::v3);
#endif
#if defined(RETRACE_HAS_V4)
  sets.push_back(Isa::v4);
#endif
  return sets;
}

bool machine_has([[maybe_unused]] Isa isa) {
#if defined(__x86_64__)
  if (isa == Isa::v2) return machine_has_v2();
  if (isa == Isa::v3) return machine_has_v3();
  if (isa == Isa::v4) return machine_has_v4();
#endif
  return true;
}

std::vector<Isa> supported() {
  std::vector<Isa> sets = built();
  std::erase_if(sets, [](Isa isa) { return !machine_has(isa); });
  return sets;
}

/// A part of the table of one of these.
template <class Part> const Part& part_of(Isa isa) {
#if defined(RETRACE_HAS_V2)
  if (isa == Isa::v2) return isa_v2::part<Part>();
#endif
#if defined(RETRACE_HAS_V3)
  if (isa == Isa::v3) return isa_v3::part<Part>();
#endif
#if defined(RETRACE_HAS_V4)
  if (isa == Isa::v4) return isa_v4::part<Part>();
#endif
#if defined(RETRACE_HAS_GENERIC)
  if (isa == Isa::generic) return isa_generic::part<Part>();
#endif
  throw ValueError("kernels: an instruction set that Retrace was not built for");
}

Isa choose(std::string_view name) {
  const std::vector<Isa> sets = supported();
  if (sets.empty())
    throw ValueError(
        "this machine has none of the instruction sets that Retrace was built for; build it with another RETRACE_ISAS");
  if (name.empty()) return sets.back();
  std::string known;
  for (Isa isa : sets) {
    const char* candidate = part_of<IsaTraits>(isa).name;
    if (name == candidate) return isa;
    known += known.empty() ? "" : ", ";
    known += candidate;
  }
  throw ValueError(
      text("RETRACE_ISA is \"", name, "\", which this machine does not have; unset it or choose one of: ", known));
}

Isa chosen() {
  static const Isa isa = [] {
    const char* name = std::getenv("RETRACE_ISA");
    return choose(name == nullptr ? "" : name);
  }();
  return isa;
}

}  // namespace

std::vector<const char*> built_names() {
  std::vector<const char*> names;
  for (Isa isa : built()) names.push_back(part_of<IsaTraits>(isa).name);
  return names;
}

std::vector<const KernelTable*> supported_kernel_tables() {
  std::vector<const KernelTable*> tables;
  for (Isa isa : supported()) tables.push_back(&part_of<KernelTable>(isa));
  return tables;
}

const KernelTable& choose_kernel_table(std::string_view name) { return part_of<KernelTable>(choose(name)); }

const KernelTable& kernel_table() { return kernels_of<KernelTable>(); }

template <class Part> const Part& kernels_of() {
  static const Part& part = part_of<Part>(chosen());
  return part;
}
template const IsaTraits& kernels_of();
template const GemmKernels& kernels_of();
template const MapKernelsOfTypes& kernels_of();
template const SoftmaxKernels& kernels_of();
template const LossKernels& kernels_of();
template const LayerNormKernels& kernels_of();
template const LstmKernels& kernels_of();
template const GruKernels& kernels_of();
template const GatedMemoryKernels& kernels_of();
template const RotaryKernels& kernels_of();
template const UpdateKernels& kernels_of();
template const HeadKernels& kernels_of();

}  // namespace retrace::kernels
