#include <retrace/core/base/error.h>
#include <retrace/models/cli/build_info.h>
#include <retrace/models/cli/cli.h>
#include <retrace/models/cli/rank_command.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

namespace retrace {
namespace {

/// The words, each flag with its values as one setting, but for the number of threads, which may be another one on each
/// rank.
std::string command_line(int argc, const char* const* argv) {
  std::string words;
  for (int k = 1; k < argc; ++k) {
    const std::string_view word = argv[k];
    if (word == "--threads")
      ++k;
    else if (!word.starts_with("--threads="))
      words += text(words.empty() ? "" : word.starts_with("--") ? ", " : " ", word);
  }
  return words;
}

}  // namespace

void check_command(Communicator& ranks, int argc, const char* const* argv) {
  check_same_settings(ranks, "retrace", text("version ", build_info.version, " of commit ", build_info.commit),
                      "start one build everywhere");
  check_same_settings(ranks, "retrace", text("the command line ", command_line(argc, argv)),
                      "start all with the same one");
  constexpr std::array<std::string_view, 5> commands{"train", "eval", "compare", "ablate", "tune"};
  if (ranks.size() > 1 && (argc < 2 || std::ranges::find(commands, argv[1]) == commands.end()))
    throw ValueError(
        "retrace: train, eval, compare, ablate and tune run on several ranks; start other commands without mpirun");
}

int run_on_ranks(Communicator& ranks, int argc, const char* const* argv, std::ostream& results) {
  constexpr double seconds_after_a_failure = 2, forever = 1e9;
  std::ostringstream no_results, kept;
  const int status = is_first(&ranks) ? run_cli(argc, argv, results, std::cerr, false, nullptr, &ranks)
                                      : run_cli(argc, argv, no_results, kept, false, nullptr, &ranks);
  const bool all_ended = ranks.meet(status == 0 ? forever : seconds_after_a_failure);
  const int status_of_first = all_ended ? of_first(&ranks, status) : 0;
  if (status != 0 && status_of_first == 0 && !is_first(&ranks))
    std::cerr << "rank " << ranks.rank() << ": " << kept.str() << std::flush;
  if (!all_ended) ranks.end_all(status);
  return status == 0 ? status_of_first : status;
}

}  // namespace retrace
