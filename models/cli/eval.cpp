#include <retrace/core/base/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/earlier_results.h>
#include <retrace/models/cli/result_folder.h>
#include <retrace/models/training/ranks/same_training.h>

#include <array>
#include <optional>
#include <ostream>

namespace retrace {
namespace {

void print_by_length(const StoredRun& run, const EvalFlags& flags, ResultFolder* folder, Program& program) {
  const ResultsByLength results = evaluate_by_length(
      run, *flags.lengths, {.samples = flags.options.samples, .seed = flags.options.seed}, program.ranks);
  if (folder != nullptr) folder->write("by_length.json", to_json(results) + "\n");
  program.results << (flags.json ? to_json(results) + "\n" : to_text(results)) << std::flush;
}

/// The stored run, with the samples that the flags ask for.
StoredRun run_to_test(const EvalFlags& flags) {
  if (flags.input.empty() && !flags.separator.empty())
    throw ValueError("retrace eval: --separator is of --input; give that, too, or leave it out");
  if (!flags.input.empty() && (flags.sizes != TaskOptions() || flags.lengths))
    throw ValueError("retrace eval: --input has samples of its own; leave --by-length and the task's options out");
  StoredRun run = load_run(flags.path, flags.input.empty() ? TaskSamples::read : TaskSamples::none);
  if (!flags.input.empty()) test_on_file(run, flags.input, flags.separator);
  if (flags.sizes != TaskOptions()) change_task(run, flags.sizes);
  return run;
}

}  // namespace

void run_eval(const EvalFlags& flags, Program& program) {
  if (flags.threads) set_threads(*flags.threads);
  if (flags.learning_rate && !flags.options.keep_learning)
    throw ValueError("retrace eval: --learning-rate is of --keep-learning; give that, too, or leave it out");
  if (flags.lengths && flags.sizes.length)
    throw ValueError("retrace eval: --by-length names the lengths; leave --length out");
  StoredRun run = run_to_test(flags);
  if (program.ranks != nullptr)
    check_same_training(*program.ranks, text("data ", run.task->fingerprint()), parameters(*run.model));
  std::optional<ResultFolder> folder;
  if (!flags.out.empty() && is_first(program.ranks)) folder.emplace(flags.out);
  if (flags.lengths) return print_by_length(run, flags, folder ? &*folder : nullptr, program);
  ReportOptions options = flags.options;
  if (flags.learning_rate) options.keep_learning->learning_rate = *flags.learning_rate;
  const Report report = make_report(run, options, program.ranks);
  if (folder) {
    folder->write("report.html", report_page(report));
    constexpr std::array page_name{"attention.html"};
    if (const std::optional<std::string> page = attention_page(report))
      folder->write(page_name.front(), *page);
    else
      remove_earlier_results(flags.out, page_name);  // it would show another model
    folder->write("eval.json", to_json(report) + "\n");
  }
  program.results << (flags.json ? to_json(report) + "\n" : to_text(report));
  if (report.attention && !folder && !flags.json)
    program.results << "  --out DIR draws the weights and their gradients.\n";
  program.results << std::flush;
}

}  // namespace retrace
