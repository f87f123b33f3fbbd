#include <retrace/core/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/earlier_results.h>
#include <retrace/models/cli/result_folder.h>

#include <array>
#include <optional>
#include <ostream>

namespace retrace {

void run_eval(const EvalFlags& flags, Program& program) {
  if (flags.threads) set_threads(*flags.threads);
  const StoredRun run = load_run(flags.path);
  std::optional<ResultFolder> folder;
  if (!flags.out.empty()) folder.emplace(flags.out);
  const Report report = make_report(run, flags.options);
  if (folder) {
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
