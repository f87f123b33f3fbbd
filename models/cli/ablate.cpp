#include <retrace/core/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/terminal.h>
#include <retrace/models/cli/result_folder.h>

#include <optional>
#include <ostream>

namespace retrace {

void run_ablate(const AblateFlags& flags, Program& program) {
  if (flags.threads > 0) set_threads(flags.threads);
  AblateOptions options = flags.ablate;
  if (!flags.quiet) {
    options.tell = [&](const std::string& what) { program.messages << what << std::endl; };
    options.run.fit.progress = progress_on(program);
  }
  variations_of(options);  // a wrong name is found before a folder is made
  std::optional<ResultFolder> folder;
  if (!flags.out.empty()) folder.emplace(flags.out);
  const Ablation ablation = ablate(options);
  if (folder) {
    folder->write("ablate.html", to_html(ablation));
    folder->write("result.json", to_json(ablation) + "\n");
  }
  program.results << (flags.json ? to_json(ablation) + "\n" : to_text(ablation)) << std::flush;
}

}  // namespace retrace
