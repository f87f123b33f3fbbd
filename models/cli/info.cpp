#include <algorithm>
#include <ostream>

#include <retrace/core/printable.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/print.h>
#include <retrace/models/json_lines.h>

namespace retrace {
void run_info(const InfoFlags& flags, Program& program) {
  const ModelInfo info = model_info(flags.run);
  if (flags.json) {
    program.results << to_json(info) << std::endl;
    return;
  }
  std::size_t width = 0;
  for (const auto& weight : info.weights) width = std::max(width, weight.name.size());
  print(program.results, "%s, with the sizes for %s\n\n", info.model.c_str(), info.task.c_str());
  for (const auto& weight : info.weights)
    print(program.results, "%-*s  %-16s %10lld\n", static_cast<int>(width), printable(weight.name).c_str(),
          to_text(weight.shape).c_str(), static_cast<long long>(weight.count));
  print(program.results, "\n%lld parameters, %lld bytes\n", static_cast<long long>(info.parameters),
        static_cast<long long>(info.bytes));
  print(program.results,
        "%.3g million floating-point operations to learn from a sample (forward and backward), %.3g million a step of "
        "%lld\n",
        static_cast<double>(info.flops_a_sample) * 1e-6, static_cast<double>(info.flops_a_sample * info.batch) * 1e-6,
        static_cast<long long>(info.batch));
  program.results << std::flush;
}

}  // namespace retrace
