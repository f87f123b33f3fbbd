#include <retrace/core/base/error.h>
#include <retrace/core/base/parallel.h>
#include <retrace/models/cli/build_info.h>
#include <retrace/ops/kernels/isa.h>

namespace retrace {

std::string version_text() {
  std::string names;
  for (const kernels::KernelTable* table : kernels::supported_kernel_tables())
    names += text(names.empty() ? "" : ", ", table->name);
  return text("retrace ", build_info.version, "\ncommit: ", build_info.commit, "\ncompiler: ", build_info.compiler,
              "\ninstruction set: ", kernels::kernel_table().name, " (RETRACE_ISA chooses among ", names,
              ")\nthreads: ", threads(), "\n");
}

}  // namespace retrace
