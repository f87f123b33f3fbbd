// Every numeric flag of every command refuses a value that is not a number or is out of range, with a one-line error.
#include <gtest/gtest.h>
#include <retrace/tests/models/command_line.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// The arguments that a command requires, so that the flag under test is its only error.
const std::map<std::string, std::vector<std::string>> commands{
    {"train", {"babi"}},  {"eval", {"no-folder"}}, {"generate", {"no-folder"}}, {"compare", {"babi"}},
    {"ablate", {"babi"}}, {"gradcheck", {}},       {"info", {"lstm"}},          {"demo", {}}};

struct Flag {
  std::string name;
  std::string type;  // as in the help: INT, FLOAT, ...
};

/// The flags with a value, from lines of the help such as "  --seed INT=0                of the draws".
std::vector<Flag> flags_of(const std::string& command) {
  std::istringstream help(run_command({command, "--help"}).results);
  std::vector<Flag> flags;
  for (std::string line; std::getline(help, line);) {
    std::istringstream words(line);
    Flag flag;
    if (!(words >> flag.name >> flag.type) || !line.starts_with("  --")) continue;
    flag.type = flag.type.substr(0, flag.type.find_first_of("=:"));
    if (std::ranges::none_of(flag.type, [](char letter) { return letter >= 'a' && letter <= 'z'; }))
      flags.push_back(flag);
  }
  return flags;
}

/// Gives every flag some of the values, and each value to many flags: all flags of a type are read by the same
/// function.
class Turns {
 public:
  explicit Turns(std::vector<std::string> values) : values_(std::move(values)) {}
  const std::string& next() { return values_[turn_++ % values_.size()]; }

 private:
  std::vector<std::string> values_;
  std::size_t turn_ = 0;
};

bool is_number(const Flag& flag) {
  const std::vector<std::string> types{"INT", "UINT", "FLOAT", "NUMBER", "NUMBER,..."};
  return std::ranges::find(types, flag.type) != types.end();
}

void expect_refused(const std::string& command, const Flag& flag, const std::string& value, bool joined) {
  std::vector<std::string> words{command};
  const std::vector<std::string>& others = commands.at(command);
  words.insert(words.end(), others.begin(), others.end());
  if (joined)
    words.push_back(flag.name + "=" + value);
  else
    words.insert(words.end(), {flag.name, value});
  const Outcome outcome = run_command(words);
  const std::string what = command + " " + flag.name + " '" + value + "': " + outcome.messages;
  EXPECT_EQ(outcome.status, 2) << what;
  EXPECT_EQ(outcome.results, "") << what;
  EXPECT_EQ(std::ranges::count(outcome.messages, '\n'), 1) << what;
  EXPECT_LE(outcome.messages.size(), 200U) << what;
  EXPECT_TRUE(outcome.messages.starts_with("retrace " + command + ": " + flag.name + ": ")) << what;
  EXPECT_NE(outcome.messages.find("'" + value.substr(0, 40)), std::string::npos) << what;  // its beginning
}

TEST(NumberFlags, RefuseWhatIsNoNumber) {
  Turns no_numbers({"", " ", "ten", "nan", "-nan", "inf", "-inf", "infinity", "1x", "0x10", "1 000", " 1", "1 ", "--",
                    "+-1", "e5", "1e999", std::string(1000, '9') + "x"});
  for (const auto& [command, others] : commands)
    for (const Flag& flag : flags_of(command))
      if (is_number(flag))
        for (int turn = 0; turn < 5; ++turn) expect_refused(command, flag, no_numbers.next(), false);
}

TEST(NumberFlags, ShowControlCodesAsQuestionMarks) {
  const std::vector<std::string> words{"info", "lstm", "--slots", "1\n\x1b[2J"};
  const Outcome outcome = run_command(words);
  EXPECT_EQ(outcome.messages,
            "retrace info: --slots: '1??[2J' is not a whole number from 1 to 1000000000; see retrace info --help\n");
}

TEST(NumberFlags, RefuseWhatTheirRangeDoesNotHold) {
  Turns for_counts({"-1", "-99999999999999999999", "99999999999999999999", "1e3", "1.5", "1.0", "18446744073709551616",
                    "-9223372036854775809", ".5", "1e-3"});
  for (const auto& [command, others] : commands)
    for (const Flag& flag : flags_of(command))
      if (flag.type == "INT")
        for (int turn = 0; turn < 3; ++turn) {
          const std::string& value = for_counts.next();
          for (const bool joined : {false, true}) expect_refused(command, flag, value, joined);
        }
}

TEST(NumberFlags, NameTheirRule) {
  const auto message = [](std::vector<std::string> words) {
    words.insert(words.begin(), {"train", "babi"});
    return run_command(words).messages;
  };
  const std::string help = "; see retrace train --help\n";
  const auto whole = [&](const std::string& flag, const std::string& value, const std::string& range) {
    EXPECT_EQ(message({flag, value}), "retrace train: " + flag + ": '" + value + "' is not a " + range + help);
  };
  whole("--hidden", "0", "whole number from 1 to 1000000000");
  whole("--threads", "100000", "whole number from 1 to 1024");
  whole("--seed", "-1", "whole number from 0 to 18446744073709551615");
  whole("--steps", "1e3", "whole number from 1 to 1000000000");
  whole("--heads", "2147483648", "whole number from 1 to 1000000000");
  whole("--b2", "2", "number from 0 to below 1");
  whole("--b2", "1", "number from 0 to below 1");
  whole("--weight-decay", "nan", "number from 0 to 1e+09");
  whole("--weight-decay", "-0.1", "number from 0 to 1e+09");
  whole("--clip", "0", "number above 0 to 1e+09");
  whole("--learning-rate", "0", "number above 0 to 1e+09");
  whole("--warm-up", "1.01", "number from 0 to 1");
  whole("--average", "1", "number from 0 to below 1");
  whole("--until", "inf", "finite number");
  EXPECT_EQ(run_command({"train", "babi", "--out", "x", "--checkpoint-seconds", "nan"}).messages,
            "retrace train: --checkpoint-seconds: 'nan' is not a number from 0 to 1e+09" + help);
  EXPECT_EQ(run_command({"generate", "x", "--temperature", "-1"}).messages,
            "retrace generate: --temperature: '-1' is not a number from 0 to 1e+09; see retrace generate --help\n");
}

TEST(NumberFlags, TakeTheEndsOfTheirRanges) {
  const std::vector<std::string> words{"train",          "parity",
                                       "--length",       "2",
                                       "--steps",        "1",
                                       "--batch",        "1",
                                       "--test-samples", "1",
                                       "--json",         "--quiet",
                                       "--warm-up",      "0",
                                       "--b2",           "0",
                                       "--weight-decay", "0",
                                       "--threads",      "1024",
                                       "--seed",         "18446744073709551615"};
  const Outcome outcome = run_command(words);
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_NE(outcome.results.find("\"seed\":18446744073709551615"), std::string::npos) << outcome.results;
}

/// A missing name is an error; the next flag is not used as the name.
TEST(NumberFlags, ListsHaveSomethingBetweenTheirCommas) {
  for (const std::string list : {",", "lstm,", ",lstm", "lstm,,gru", ""}) {
    const Outcome outcome = run_command({"compare", "babi", "--models", list, "--steps", "2"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.messages, "retrace compare: --models: '" + list +
                                    "' is not a list with something before and after every comma; see retrace compare "
                                    "--help\n");
  }
  const Outcome rates = run_command({"compare", "babi", "--models", "lstm", "--learning-rates", "0.1,nan"});
  EXPECT_EQ(rates.status, 2);
  EXPECT_NE(rates.messages.find("--learning-rates: 'nan' is not a number above 0"), std::string::npos)
      << rates.messages;
}

TEST(NumberFlags, AFlagIsNoValueOfAnother) {
  for (const auto& [command, others] : commands)
    for (const Flag& flag : flags_of(command)) {
      std::vector<std::string> words{command};
      words.insert(words.end(), others.begin(), others.end());
      words.insert(words.end(), {flag.name, "--json"});
      const Outcome outcome = run_command(words);
      EXPECT_EQ(outcome.status, 2) << command << " " << flag.name;
      EXPECT_TRUE(outcome.messages.starts_with("retrace " + command + ": " + flag.name + ": ")) << outcome.messages;
      EXPECT_NE(outcome.messages.find("--json"), std::string::npos) << outcome.messages;
    }
}

}  // namespace
}  // namespace retrace
