#include <retrace/core/base/error.h>
#include <retrace/models/cli/asked_text.h>
#include <retrace/models/cli/build_info.h>
#include <retrace/models/cli/cli.h>
#include <retrace/models/cli/command_flags.h>
#include <retrace/models/cli/generated_files.h>
#include <retrace/models/cli/help.h>
#include <retrace/models/cli/number_options.h>
#include <retrace/models/cli/output_stream.h>
#include <retrace/models/cli/printable_stream.h>
#include <retrace/models/cli/rank_command.h>
#include <retrace/models/cli/stored_training.h>
#include <retrace/models/cli/usage_errors.h>
#include <retrace/models/training/ranks/started_ranks.h>

#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <vector>

namespace retrace {
namespace {

constexpr int usage_error = 2;
constexpr int failure = 1;

/// Flushes and checks: not every stream throws when a write fails.
void finish(const Program& program) {
  program.results.flush();
  if (!program.data.flush()) throw FileError("retrace: the results cannot be written; send them elsewhere");
}

int run_command(int argc, const char* const* argv, Program program) {
  std::ostream &results = program.results, &messages = program.messages;
  CLI::App app("Trains and checks models by reverse-mode automatic differentiation.", "retrace");
  app.require_subcommand(1);
  app.formatter(help_formatter());
  app.add_flag_callback(
      "--version", [] { throw AskedText(version_text()); },
      "print the version, the commit, the compiler, the instruction set and the number of threads");
  add_generate_option(app);
  for (const auto add_command :
       {add_study_command, add_train_command, add_eval_command, add_predict_command, add_export_command,
        add_generate_command, add_compare_command, add_ablate_command, add_tune_command, add_show_command,
        add_gradcheck_command, add_selfcheck_command, add_info_command, add_demo_command})
    add_command(app, program);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) refuse_flags_as_values(*command);
  try {
    if (program.ranks != nullptr) check_command(*program.ranks, argc, argv);
    const std::vector<const char*> words = with_flags(app, argc, argv);
    app.parse(static_cast<int>(words.size()), words.data());
    finish(program);
    return program.status;
  } catch (const CLI::ParseError& error) {
    if (!report(app, error, results, messages)) return usage_error;
    finish(program);
    return 0;
  } catch (const Interrupted& error) {
    messages << error.what() << std::endl;
    return error.exit_status;
  } catch (const DivergenceError& error) {
    messages << in_the_name_of(app, error) << std::endl;
    return failure;
  } catch (const ValueError& error) {
    messages << in_the_name_of(app, error) << std::endl;
    return usage_error;
  } catch (const MemoryError& error) {
    messages << in_the_name_of(app, error) << " (--hidden, --slots, --length, --batch)" << std::endl;
    return failure;
  } catch (const std::bad_alloc&) {
    throw;  // not even memory for a message
  } catch (const std::filesystem::filesystem_error& error) {
    messages << "retrace: " << error.path1().string() << ": " << error.code().message() << "; choose another path"
             << std::endl;
    return failure;
  } catch (const std::exception& error) {
    messages << one_line(in_the_name_of(app, error)) << std::endl;
    return failure;
  }
}

constexpr const char* no_memory =
    "retrace: the system gives no more memory; use smaller sizes (--hidden, --slots, --length) or batches (--batch), "
    "or end other programs";

const std::terminate_handler terminate_otherwise = std::get_terminate();

// CLI11 2.6 allocates in functions that may not throw (App::get_option_no_throw): nobody can catch a failure there.
[[noreturn]] void say_why_it_ends() {
  try {
    if (std::current_exception()) std::rethrow_exception(std::current_exception());
  } catch (const std::bad_alloc&) {
    std::cerr << no_memory << std::endl;
    std::_Exit(failure);
  } catch (...) {
  }
  terminate_otherwise();
  std::abort();
}

}  // namespace

namespace {

/// The first file that is opened would get the descriptor of a standard stream that is closed, and with it what is
/// meant for the stream. Writing to a file that can only be read fails as writing to a closed stream does.
void occupy_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(stream, F_GETFD) == -1) ::open("/dev/null", O_RDONLY);  // takes the lowest descriptor: this one
}

}  // namespace

int run_cli(int argc, const char* const* argv) {
  std::set_terminate(say_why_it_ends);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that grows too large is an error of the write
  occupy_closed_streams();
  std::cout.flush();  // keeps the caller's own output first
  OutputStream results(STDOUT_FILENO, "standard output", "send it elsewhere");
  if (const std::unique_ptr<Communicator> ranks = started_ranks()) return run_on_ranks(*ranks, argc, argv, results);
  const bool is_read_on_a_terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0;
  return run_cli(argc, argv, results, std::cerr, isatty(STDERR_FILENO) != 0,
                 is_read_on_a_terminal ? &std::cin : nullptr);
}

int run_cli(int argc, const char* const* argv, std::ostream& results, std::ostream& messages, bool terminal,
            std::istream* keyboard, Communicator* ranks) {
  PrintableStream text(results), notes(messages);
  notes << std::unitbuf;  // as what is written to `messages` itself
  try {
    return run_command(argc, argv, {text, results, notes, messages, terminal, keyboard, ranks});
  } catch (const std::bad_alloc&) {
    messages << no_memory << std::endl;
  } catch (const std::exception& error) {
    notes << error.what() << std::endl;
  }
  return failure;
}

}  // namespace retrace
