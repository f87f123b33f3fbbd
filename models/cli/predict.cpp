#include <retrace/core/base/parallel.h>
#include <retrace/core/files/replacement_file.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/training/predict.h>

#include <filesystem>
#include <ostream>

namespace retrace {

void run_predict(const PredictFlags& flags, Program& program) {
  if (flags.threads) set_threads(*flags.threads);
  std::error_code error;
  if (!flags.out.empty() && std::filesystem::equivalent(flags.input, flags.out, error))
    throw ValueError(text("retrace predict: --out ", flags.out, " is the file of --input; choose another file"));
  const Answers answers = predict(load_run(flags.path, TaskSamples::none), flags.input, flags.separator);
  const std::string result = flags.json ? to_json(answers) + "\n" : to_csv(answers, flags.probabilities);
  if (flags.out.empty()) {
    // A program reads the file as it is; on a terminal, a person does.
    (program.keyboard == nullptr ? program.data : program.results) << result << std::flush;
    return;
  }
  ReplacementFile file("retrace predict", flags.out);
  file.write(result.data(), result.size());
  file.put_into_place();
}

}  // namespace retrace
