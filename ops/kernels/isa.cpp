#include <retrace/core/error.h>
#include <retrace/ops/kernels/isa.h>

#include <cstdlib>

namespace retrace::kernels {

// The build says which tables there are: see RETRACE_ISAS in CMakeLists.txt.
#if defined(RETRACE_HAS_GENERIC)
namespace isa_generic {
extern const KernelTable table;
}
#endif
#if defined(RETRACE_HAS_V2)
namespace isa_v2 {
extern const KernelTable table;
}
#endif
#if defined(RETRACE_HAS_V3)
namespace isa_v3 {
extern const KernelTable table;
}
#endif
#if defined(RETRACE_HAS_V4)
namespace isa_v4 {
extern const KernelTable table;
}
#endif

#if defined(__x86_64__)

namespace {

bool all(auto... present) { return (... && (present != 0)); }

[[maybe_unused]] bool machine_has_v2() {
  return all(__builtin_cpu_supports("ssse3"), __builtin_cpu_supports("sse4.2"), __builtin_cpu_supports("popcnt"));
}
[[maybe_unused]] bool machine_has_v3() {
  return machine_has_v2() && all(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"),
                                 __builtin_cpu_supports("bmi"), __builtin_cpu_supports("bmi2"));
}
[[maybe_unused]] bool machine_has_v4() {
  return machine_has_v3() &&
         all(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"), __builtin_cpu_supports("avx512cd"),
             __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512vl"));
}

}  // namespace

#endif

std::vector<const KernelTable*> supported_kernel_tables() {
  std::vector<const KernelTable*> tables;
#if defined(RETRACE_HAS_GENERIC)
  tables.push_back(&isa_generic::table);
#endif
#if defined(RETRACE_HAS_V2)
  if (machine_has_v2()) tables.push_back(&isa_v2::table);
#endif
#if defined(RETRACE_HAS_V3)
  if (machine_has_v3()) tables.push_back(&isa_v3::table);
#endif
#if defined(RETRACE_HAS_V4)
  if (machine_has_v4()) tables.push_back(&isa_v4::table);
#endif
  return tables;
}

const KernelTable& choose_kernel_table(std::string_view name) {
  const std::vector<const KernelTable*> tables = supported_kernel_tables();
  if (tables.empty())
    throw ValueError(
        "this machine has none of the instruction sets that Retrace was built for; build it with another RETRACE_ISAS");
  if (name.empty()) return *tables.back();
  std::string known;
  for (const KernelTable* table : tables) {
    if (name == table->name) return *table;
    known += known.empty() ? "" : ", ";
    known += table->name;
  }
  throw ValueError(
      text("RETRACE_ISA is \"", name, "\", which this machine does not have; unset it or choose one of: ", known));
}

const KernelTable& kernel_table() {
  static const KernelTable& chosen = [&]() -> const KernelTable& {
    const char* name = std::getenv("RETRACE_ISA");
    return choose_kernel_table(name == nullptr ? "" : name);
  }();
  return chosen;
}

}  // namespace retrace::kernels
