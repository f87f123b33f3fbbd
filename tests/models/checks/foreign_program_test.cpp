// retrace gradcheck --command: gradients of programs in other languages.
#include <gtest/gtest.h>
#include <retrace/core/tensor/random.h>
#include <retrace/models/checks/json_tensor.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace retrace {
namespace {

const std::string unit_vector = std::filesystem::path(RETRACE_PROGRAM).parent_path() / "tour_unit_vector";
const std::string examples_folder = RETRACE_SOURCE_DIR "/models/tour/gradcheck/";

Outcome check_program(const std::string& command, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& more = {}) {
  std::vector<std::string> words{"gradcheck", "--command", command};
  for (const std::string& input : inputs) words.insert(words.end(), {"--input", input});
  words.insert(words.end(), more.begin(), more.end());
  return run_command(words);
}

/// Expects that the command fails with status 1 and with all of these words.
void expect_refused(const std::string& command, const std::vector<std::string>& parts) {
  const Outcome outcome = check_program(command, {"x=[1,2]"}, {"--timeout", "20"});
  EXPECT_EQ(outcome.status, 1) << command;
  for (const std::string& part : parts)
    EXPECT_NE(outcome.messages.find(part), std::string::npos) << command << ": " << outcome.messages;
}

TEST(ForeignProgram, InCPasses) {
  const Outcome outcome = check_program(unit_vector, {"x=12"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages << outcome.results;
  const std::string line = on_one_line(outcome.results);
  EXPECT_EQ(line.find("input cases elements differences dual numbers x 1 12 "), 0U) << line;
  EXPECT_NE(line.find(" none ok no dual numbers in case 1: the code that is checked computes with plain numbers"),
            std::string::npos)
      << line;
  EXPECT_NE(line.find("1 checked in 12 elements, 0 failed"), std::string::npos) << line;
}

TEST(ForeignProgram, PrintsOneObject) {
  const Outcome outcome = check_program(unit_vector, {"x=[1,2,-2]"}, {"--json"});
  const auto object = Json::parse(outcome.results);
  EXPECT_EQ(object["rows"][0]["passed"], true);
  EXPECT_EQ(object["elements"], 3);
  EXPECT_EQ(object["without_duals"], 1);
  EXPECT_LT(object["worst_error"], 1e-8);
}

/// The sign of one element is changed on its way.
TEST(ForeignProgram, ThatIsWrongIsReportedByElement) {
  const Outcome outcome =
      check_program(unit_vector + R"( | sed -u 's/"x": \[-/"x": [/; t; s/"x": \[/"x": [-/')", {"x=[0.5,1,-2]"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.results.find("1 failed; 0 elements skipped, 1 failed"), std::string::npos) << outcome.results;
  EXPECT_NE(outcome.results.find("-1.000"), std::string::npos) << outcome.results;
}

bool has_module(const std::string& name) {
  return std::system(("/usr/bin/python3 -c 'import " + name + "' 2> /dev/null").c_str()) == 0;
}

TEST(ForeignProgram, InNumPyPasses) {
  if (!has_module("numpy")) GTEST_SKIP() << "/usr/bin/python3 has no NumPy";
  const Outcome outcome =
      check_program("/usr/bin/python3 '" + examples_folder + "attention.py'", {"q=3x4", "k=5x4", "v=5x2"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages << outcome.results;
  EXPECT_NE(outcome.results.find("3 checked in 42 elements, 0 failed"), std::string::npos) << outcome.results;
}

TEST(ForeignProgram, InPyTorchPasses) {
  if (!has_module("torch")) GTEST_SKIP() << "/usr/bin/python3 has no PyTorch";
  const Outcome outcome =
      check_program("/usr/bin/python3 '" + examples_folder + "module.py'", {"x=3x4", "weight=2x4", "bias=2"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages << outcome.results;
}

TEST(ForeignProgram, ThatEndsIsToldWithItsStatus) {
  expect_refused("exit 3", {"gradcheck: 'exit 3' ended with exit status 3 before it had answered"});
  expect_refused("kill -SEGV $$", {"ended with signal 11"});
  expect_refused("no_such_program_here 2> /dev/null", {"ended with exit status 127"});
  expect_refused("exec >&-; sleep 30", {"closed its standard output before"});
}

TEST(ForeignProgram, ThatAnswersNonsenseIsQuoted) {
  const auto answering = [](const std::string& line) { return "while read request; do echo '" + line + "'; done"; };
  expect_refused(answering("Loading weights ..."), {"answered 'Loading weights ...': that is not JSON"});
  expect_refused(answering("{\"y\": NaN}"), {"NaN is written as null"});
  expect_refused(answering("[1]"), {"that is no object"});
  expect_refused(answering("{}"), {"it lacks 'y'"});
  expect_refused(answering("{\"y\": \"one\"}"), {"y is neither a number nor nested lists of numbers"});
  expect_refused(answering("{\"y\": [[1, 2], [3]]}"), {"y has a list of 1 beside one of 2"});
  expect_refused(answering("{\"y\": [1, [2]]}"), {"y has a list beside a number"});
  expect_refused(answering("{\"y\": 1}"), {"it lacks 'dx'"});
  expect_refused(answering("{\"y\": 1, \"dx\": [1, 2]}"), {"dx is no object"});
  expect_refused(answering("{\"y\": 1, \"dx\": {}}"), {"dx lacks the gradient of 'x'"});
  expect_refused(answering("{\"y\": 1, \"dx\": {\"x\": [1]}}"), {"dx of 'x' is [1], but the input is [2]"});
  expect_refused(answering("{\"error\": \"out of paper\"}"), {" says: out of paper"});
  expect_refused("read a; echo '{\"y\": 1}'; read a; echo '{\"y\": [1]}'; cat", {"y has other names or lengths"});
}

TEST(ForeignProgram, ThatHangsIsEndedWithAllThatItStarted) {
  const TemporaryFolder folder;
  const std::string command = "sleep 600 & echo $! > " + (folder / "child") + "; wait";
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = check_program(command, {"x=[1,2]"}, {"--timeout", "0.2"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.messages.find("has not answered for 0.2 s and was ended"), std::string::npos) << outcome.messages;
  pid_t child = 0;
  std::ifstream(folder / "child") >> child;
  ASSERT_GT(child, 0);
  for (int tries = 0; tries < 500 && kill(child, 0) == 0; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::filesystem::path status = text("/proc/", child, "/stat");
  std::string words;
  std::getline(std::ifstream(status), words);
  EXPECT_TRUE(kill(child, 0) != 0 || words.find(") Z ") != std::string::npos) << words;
}

/// More than a pipe holds, to a program that does not read.
TEST(ForeignProgram, ThatDoesNotReadIsEnded) {
  const Outcome outcome = check_program("sleep 600", {"x=100x1000"}, {"--timeout", "0.2"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.messages.find("has not answered"), std::string::npos) << outcome.messages;
}

TEST(ForeignProgram, NeedsACommandLineOfItsOwn) {
  EXPECT_EQ(check_program(unit_vector, {"x=3"}, {"--order", "2"}).status, 2);
  EXPECT_EQ(check_program(unit_vector, {"x=3"}, {"--expr", "x"}).status, 2);
  EXPECT_EQ(check_program(unit_vector, {"x=3"}, {"tanh"}).status, 2);
  EXPECT_EQ(check_program(unit_vector, {"x=[1,2]i64"}).status, 2);
  EXPECT_EQ(check_program(unit_vector, {"x=3"}, {"--timeout", "0"}).status, 2);
  EXPECT_EQ(check_program("", {"x=3"}).status, 2);
  EXPECT_EQ(run_command({"gradcheck", "tanh", "--timeout", "3"}).status, 2);
}

TEST(JsonTensor, GoesThereAndBackToTheBit) {
  const Tensor x = Random(3).normal({2, 3, 4}, f64);
  JsonWriter writer;
  write_tensor(writer, x);
  const Tensor back = tensor_from(read_json_tree(writer.text()));
  EXPECT_EQ(back.shape(), x.shape());
  EXPECT_TRUE(std::ranges::equal(back.values<double>(), x.values<double>()));
  JsonWriter number;
  write_tensor(number, tensor(0.1, f64));
  EXPECT_EQ(number.text(), "0.1");
  EXPECT_EQ(tensor_from(read_json_tree("0.1")).shape(), Shape());
  EXPECT_TRUE(std::isnan(tensor_from(read_json_tree("[1, null]")).at({1})));
}

}  // namespace
}  // namespace retrace
