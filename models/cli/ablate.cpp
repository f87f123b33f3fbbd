#include <retrace/core/parallel.h>
#include <retrace/models/cli/commands.h>
#include <retrace/models/cli/run_directory.h>

#include <optional>
#include <ostream>

namespace retrace {

void run_ablate(const AblateFlags& flags, Program& program) {
  if (flags.threads > 0) set_threads(flags.threads);
  AblateOptions options = flags.ablate;
  if (!flags.quiet) options.tell = [&](const std::string& what) { program.messages << what << std::endl; };
  variations_of(options);  // a wrong name is found before a folder is made
  std::optional<RunDirectory> directory;
  if (!flags.out.empty()) directory.emplace(flags.out, false);
  const Ablation ablation = ablate(options);
  if (directory) {
    directory->write("ablate.html", to_html(ablation));
    directory->write("result.json", to_json(ablation) + "\n");
  }
  program.results << (flags.json ? to_json(ablation) + "\n" : to_text(ablation)) << std::flush;
}

}  // namespace retrace
