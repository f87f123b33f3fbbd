#include <retrace/core/base/error.h>
#include <retrace/models/training/ranks/same_training.h>
#include <retrace/ops/kernels/isa.h>

namespace retrace {

void check_same_training(Communicator& ranks, const std::string& description, const std::vector<NamedTensor>& weights) {
  check_same_settings(ranks, "fit", text("the instruction set ", kernels::kernel_table().name),
                      "their bits would differ; set RETRACE_ISA, on all ranks, to one that every machine has");
  check_same_settings(ranks, "fit", text(description, ", initial weights ", weights_hash(weights)),
                      "start all with the same options and data");
}

}  // namespace retrace
