// Every command reports output that cannot be written as an error.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/models/cli/output_stream.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// "retrace ..." with its results on a full device.
Outcome run_on_full_device(const std::vector<std::string>& words) {
  std::vector<const char*> arguments{"retrace"};
  for (const std::string& word : words) arguments.push_back(word.c_str());
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  std::ostringstream messages;
  int status = 0;
  {
    OutputStream results(full, "standard output", "send it elsewhere");
    status = run_cli(static_cast<int>(arguments.size()), arguments.data(), results, messages);
  }
  ::close(full);
  return {status, "", messages.str()};
}

TEST(OutputStream, Appends) {
  const TemporaryFolder folder;
  const std::string file = folder / "file", large(10'000, 'x');
  std::ofstream(file) << "zero ";
  {
    OutputStream stream(file);
    stream << "one " << 2 << '\n' << large << std::flush;
    EXPECT_EQ(file_bytes(file), "zero one 2\n" + large) << "a flush writes";
    stream << "rest";
  }
  EXPECT_EQ(file_bytes(file), "zero one 2\n" + large + "rest") << "so does the end";
  OutputStream(file).flush_to_disk();
}

TEST(OutputStream, SaysAtOnceWhatCannotBeWrittenAndWhy) {
  OutputStream stream("/dev/full");
  stream << "a line";
  try {
    stream << std::endl;
    FAIL() << "nothing was thrown";
  } catch (const FileError& error) {
    EXPECT_STREQ(error.what(),
                 "retrace: /dev/full cannot be written: No space left on device; make room or choose another --out");
  }
  EXPECT_TRUE(stream.bad());
  OutputStream other("/dev/full");
  EXPECT_THROW(other << std::string(100'000, 'x'), FileError) << "more than it keeps back";
  EXPECT_THROW(OutputStream("/nowhere/file"), FileError);
}

TEST(OutputStream, ResultsThatCannotBeWrittenFailEveryCommand) {
  const TemporaryFolder folder;
  const std::string run = folder / "run", text = folder / "text", rhyme = folder / "rhyme.txt";
  std::ofstream(rhyme) << std::string(100, 'a') << "row row row your boat, gently down the stream\n";
  const std::vector<std::string> train{"train", "babi", "--steps", "1", "--batch", "2", "--test-samples", "8"};
  const std::vector<std::string> write{"train",    "text", "--text",   rhyme, "--steps",        "1", "--batch", "2",
                                       "--length", "8",    "--hidden", "8",   "--test-samples", "8"};
  const auto with = [](std::vector<std::string> words, std::initializer_list<const char*> more) {
    for (const char* word : more) words.emplace_back(word);
    return words;
  };
  ASSERT_EQ(run_command(with(train, {"--quiet", "--out", run.c_str()})).status, 0);
  ASSERT_EQ(run_command(with(write, {"--quiet", "--out", text.c_str()})).status, 0);
  const std::vector<std::vector<std::string>> commands{
      with(train, {"--quiet"}),
      with(write, {"--quiet"}),
      {"eval", run, "--samples", "8"},
      {"generate", text, "--length", "3"},
      {"compare", "babi", "--models", "lstm", "--steps", "1", "--batch", "2", "--seeds", "1", "--test-samples", "8",
       "--quiet"},
      {"ablate", "babi", "--factors", "heads", "--steps", "1", "--batch", "2", "--seeds", "1", "--test-samples", "8",
       "--quiet"},
      {"gradcheck", "Linear"},
      {"info", "lstm"},
      {"demo", "attention"}};
  const std::string message =
      "retrace: standard output cannot be written: No space left on device; send it elsewhere\n";
  for (const std::vector<std::string>& words : commands)
    for (const bool json : {false, true}) {
      const Outcome outcome = run_on_full_device(json ? with(words, {"--json"}) : words);
      EXPECT_EQ(outcome.status, 1) << words.front() << (json ? " --json" : "");
      EXPECT_TRUE(outcome.messages.ends_with(message)) << words.front() << ": " << outcome.messages;
    }
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"--help"}, {"train", "--help"}}) {
    const Outcome outcome = run_on_full_device(words);
    EXPECT_EQ(outcome.status, 1) << words.front();
    EXPECT_EQ(outcome.messages, message) << words.front();
  }
}

TEST(OutputStream, AnyStreamThatFailsIsNoticed) {
  std::ostringstream broken, messages;
  broken.setstate(std::ios::badbit);
  const char* arguments[] = {"retrace", "info", "lstm"};
  EXPECT_EQ(run_cli(3, arguments, broken, messages), 1);
  EXPECT_EQ(messages.str(), "retrace: the results cannot be written; send them elsewhere\n");
}

TEST(OutputStream, TheProgramFailsOnAFullDevice) {
  const TemporaryFolder folder;
  const std::string messages = folder / "messages";
  for (const char* words : {"info lstm", "info lstm --json", "--help"}) {
    const std::string command = std::string(RETRACE_PROGRAM) + " " + words + " > /dev/full 2> " + messages;
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 1) << words;
    EXPECT_EQ(file_bytes(messages),
              "retrace: standard output cannot be written: No space left on device; send it elsewhere\n");
  }
}

}  // namespace
}  // namespace retrace
