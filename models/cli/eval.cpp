#include <retrace/core/error.h>
#include <retrace/core/parallel.h>
#include <retrace/models/cli/commands.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>

namespace retrace {
namespace {

void write_page(const std::filesystem::path& folder, const Report& report) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto write = [&](const char* name, const std::string& content) {
    const std::filesystem::path path = folder / name;
    errno = 0;
    std::ofstream file(path);
    file << content << std::flush;
    if (!file)
      throw FileError(
          text("retrace: ", path.string(), " cannot be written: ", std::strerror(errno), "; choose another --out"));
  };
  write("attention.html", attention_page(report));
  write("eval.json", to_json(report) + "\n");
}

}  // namespace

void run_eval(const EvalFlags& flags, Program& program) {
  if (flags.threads > 0) set_threads(flags.threads);
  const Report report = make_report(load_run(flags.path), flags.options);
  if (!flags.out.empty()) write_page(flags.out, report);
  program.results << (flags.json ? to_json(report) + "\n" : to_text(report)) << std::flush;
}

}  // namespace retrace
