// Trains and evaluates by the command line, in a temporary folder.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/temporary_folder.h>

namespace retrace {

class EvalCli : public testing::Test {
 protected:
  Json train(std::vector<std::string> words) const {
    words.insert(words.begin(), "train");
    for (const char* word : {"--steps", "4", "--batch", "8", "--seed", "3", "--test-samples", "600", "--json",
                             "--quiet", "--force", "--out"})
      words.emplace_back(word);
    words.push_back(run_);
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return Json::parse(outcome.results);
  }
  Json eval(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"eval", run_, "--json"});
    const Outcome outcome = run_command(more);
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    EXPECT_EQ(outcome.messages, "");
    return Json::parse(outcome.results);
  }
  std::string read(const char* name) const { return file_bytes(folder_ / name); }

  TemporaryFolder folder_;
  std::string run_ = folder_ / "run", page_ = folder_ / "page";
};

}  // namespace retrace
