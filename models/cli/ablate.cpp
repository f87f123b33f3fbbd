#include <retrace/core/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/earlier_results.h>
#include <retrace/models/cli/result_folder.h>
#include <retrace/models/cli/terminal.h>

#include <array>
#include <optional>
#include <ostream>

namespace retrace {

void run_ablate(const AblateFlags& flags, Program& program) {
  if (flags.threads) set_threads(*flags.threads);
  AblateOptions options = flags.ablate;
  if (!flags.quiet) {
    options.tell = [&](const std::string& what) { program.messages << what << std::endl; };
    options.run.fit.progress = progress_on(program);
  }
  variations_of(options);  // a wrong name is found before a folder is made
  constexpr std::array files{"ablate.html", "result.json"};
  std::optional<ResultFolder> folder;
  if (!flags.out.empty()) {
    if (!flags.force) refuse_earlier_results(flags.out, files, "give --force to replace it");
    folder.emplace(flags.out);
  }
  const Ablation ablation = ablate(options);
  if (folder) {
    folder->write(files[0], to_html(ablation));
    folder->write(files[1], to_json(ablation) + "\n");
  }
  program.results << (flags.json ? to_json(ablation) + "\n" : to_text(ablation)) << std::flush;
}

}  // namespace retrace
