#include <retrace/core/error.h>
#include <retrace/ops/kernels/isa.h>

#include <cstdlib>

namespace retrace::kernels {

#ifdef __x86_64__

namespace isa_v2 {
extern const KernelTable table;
}
namespace isa_v3 {
extern const KernelTable table;
}
namespace isa_v4 {
extern const KernelTable table;
}

std::vector<const KernelTable*> supported_kernel_tables() {
  const auto has = [](auto... present) { return (... && (present != 0)); };
  std::vector<const KernelTable*> tables = {&isa_v2::table};
  if (!has(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"), __builtin_cpu_supports("bmi"),
           __builtin_cpu_supports("bmi2"))) {
    return tables;
  }
  tables.push_back(&isa_v3::table);
  if (has(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"), __builtin_cpu_supports("avx512cd"),
          __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512vl"))) {
    tables.push_back(&isa_v4::table);
  }
  return tables;
}

#else

namespace isa_generic {
extern const KernelTable table;
}

std::vector<const KernelTable*> supported_kernel_tables() { return {&isa_generic::table}; }

#endif

const KernelTable& choose_kernel_table(std::string_view name) {
  const std::vector<const KernelTable*> tables = supported_kernel_tables();
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
