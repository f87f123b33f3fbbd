// retrace study: what it prints, what it writes, and what it says of lines and files that are wrong.
#include <gtest/gtest.h>
#include <retrace/models/study/subjects.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/models/page_contents.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

TEST(StudyCommand, PrintsEveryStepToAPipeWithoutColours) {
  const Outcome outcome = run_command({"study", "attention", "--tokens", "3", "--size", "4", "--heads", "1"});
  EXPECT_EQ(outcome.status, 0) << outcome.messages;
  EXPECT_EQ(outcome.results.find('\x1b'), std::string::npos);
  EXPECT_NE(outcome.results.find("softmax"), std::string::npos) << "the composed twin of the fused op is shown";
  EXPECT_NE(outcome.results.find("backward of softmax"), std::string::npos);
}

TEST(StudyCommand, SumsUpALongTraceInAPipeUnlessAllOfItIsAskedFor) {
  const std::string summary = run_command({"study", "rmc"}).results,
                    all = run_command({"study", "rmc", "--all"}).results;
  const std::ptrdiff_t lines = std::ranges::count(all, '\n');
  EXPECT_LT(std::ranges::count(summary, '\n'), 160) << summary;
  EXPECT_NE(summary.find(text("--all prints every number of every step, ", lines, " lines")), std::string::npos);
  EXPECT_NE(summary.find("one element by three ways"), std::string::npos);
  EXPECT_NE(all.find("0  backward of matmul"), std::string::npos);
  EXPECT_GT(lines, 8000);
  EXPECT_EQ(run_command({"study", "rmc", "--all", "--out", "x.html"}).messages,
            "study: --all prints text, and --out and --trace write files instead; leave one of them out\n");
}

TEST(StudyCommand, RecordsFusedOpsAsOneOnRequest) {
  const Outcome outcome = run_command({"study", "attention", "--fused", "--json"});
  const Json records = Json::parse(outcome.results)["trace"]["records"];
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0]["op"], "attention");
}

TEST(StudyCommand, SizesHeadsDtypeAndSeedAreThoseOfTheFlags) {
  const std::vector<std::string> line{"study", "lstm", "--tokens", "3", "--size", "6", "--dtype", "f32", "--json"};
  const auto traced = [&](std::vector<std::string> more) {
    more.insert(more.begin(), line.begin(), line.end());
    return Json::parse(run_command(more).results);
  };
  const Json trace = traced({"--seed", "1"});
  for (const Json& node : trace["trace"]["nodes"]) EXPECT_EQ(node["dtype"], "f32") << node["name"];
  EXPECT_EQ(trace, traced({"--seed", "1"}));
  EXPECT_NE(trace, traced({"--seed", "2"}));
  EXPECT_EQ(run_command({"study", "attention", "--heads", "3"}).messages,
            "attention: q[4, 8], k[4, 8] and v[4, 8]: 3 heads do not divide the features; choose a divisor\n");
}

TEST(StudyCommand, AStoredTraceIsShownAsTheComputationWas) {
  const TemporaryFolder folder;
  const std::string file = folder / "gru.trace.safetensors";
  const Outcome written = run_command({"study", "gru", "--trace", file});
  EXPECT_EQ(written.messages, "wrote " + file + "\n");
  EXPECT_EQ(written.results, "");
  EXPECT_TRUE(run_command({"study", file}).results == run_command({"study", "gru"}).results);
  EXPECT_TRUE(run_command({"study", file, "--json"}).results == run_command({"study", "gru", "--json"}).results)
      << "integers are integers still, numbers the same to the last bit";
  run_command({"study", "attention", "--fused", "--causal", "--trace", file});
  EXPECT_EQ(run_command({"study", file}).results, run_command({"study", "attention", "--fused", "--causal"}).results)
      << "attributes keep their order";
}

TEST(StudyCommand, ADamagedTraceIsRefused) {
  const TemporaryFolder folder;
  const std::string file = folder / "gru.trace.safetensors";
  ASSERT_EQ(run_command({"study", "gru", "--trace", file}).status, 0);
  std::string bytes = file_bytes(file);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(file, std::ios::binary) << bytes;
  const Outcome outcome = run_command({"study", file});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.results, "");
  EXPECT_NE(outcome.messages.find("damaged"), std::string::npos) << outcome.messages;
}

TEST(StudyCommand, WritesAPageAndADrawing) {
  const TemporaryFolder folder;
  ASSERT_EQ(run_command({"study", "multi-head-attention", "--causal", "--out", folder / "x.html"}).status, 0);
  EXPECT_NE(page_contents(folder / "x.html").find("query.weight"), std::string::npos);
  const Outcome drawing = run_command({"study", "multi-head-attention", "--dot"});
  EXPECT_TRUE(drawing.results.starts_with("digraph tape {"));
  EXPECT_NE(drawing.results.find("label=\"query\""), std::string::npos) << "scopes are clusters";
}

/// What stands above the title of the page of this command.
std::string maker_on_page_of(std::vector<std::string> command) {
  const TemporaryFolder folder;
  const std::string path = folder / "x.html";
  for (const char* word : {"--out", path.c_str()}) command.emplace_back(word);
  EXPECT_EQ(run_command(command).status, 0);
  const std::string page = file_bytes(path), mark = "class=\"maker\">";
  const std::size_t start = page.find(mark) + mark.size();
  const std::string maker = page.substr(start, page.find('<', start) - start);
  return maker.substr(maker.find(": ") + 2);  // after the version
}

TEST(StudyCommand, APageSaysWhichCommandMadeIt) {
  unsetenv("SOURCE_DATE_EPOCH");
  EXPECT_EQ(maker_on_page_of({"study", "lstm", "--tokens", "3"}), "retrace study lstm --tokens 3 --seed 0");
  EXPECT_EQ(maker_on_page_of({"study", "attention", "--seed", "7", "--causal", "--fused"}),
            "retrace study attention --causal --seed 7 --fused");
  EXPECT_EQ(maker_on_page_of({"study", "--expr", "x * tanh(x)", "--input", "x=[1,-2]"}),
            "retrace study --expr 'x * tanh(x)' --input 'x=[1,-2]' --seed 0");
}

TEST(StudyCommand, APageHasADateOnlyWhereTheEnvironmentGivesIt) {
  const auto maker_at = [](const char* seconds) {
    setenv("SOURCE_DATE_EPOCH", seconds, 1);
    const std::string maker = maker_on_page_of({"study", "softmax"});
    unsetenv("SOURCE_DATE_EPOCH");
    return maker;
  };
  EXPECT_EQ(maker_at("1000000000"), "retrace study softmax --seed 0, 2001-09-09");
  EXPECT_EQ(maker_at("0"), "retrace study softmax --seed 0, 1970-01-01");
  for (const char* wrong : {"", "today", "-1", "1e9", "99999999999999999999", "253402300800"})
    EXPECT_EQ(maker_at(wrong), "retrace study softmax --seed 0") << wrong;
}

TEST(StudyCommand, AnUnwritablePathIsNamedAndLosesNothing) {
  const TemporaryFolder folder;
  std::ofstream(folder / "page.html") << "an earlier page";
  const Outcome outcome = run_command({"study", "softmax", "--out", folder / "none/page.html"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.messages.find("none/page.html cannot be created"), std::string::npos) << outcome.messages;
  const Outcome onto_folder = run_command({"study", "softmax", "--out", folder / ""});
  EXPECT_EQ(onto_folder.status, 1) << onto_folder.messages;
  EXPECT_EQ(file_bytes(folder / "page.html"), "an earlier page");
  const std::string file = folder / "x.trace.safetensors";
  const Outcome half = run_command({"study", "softmax", "--trace", file, "--out", folder / "none/page.html"});
  EXPECT_TRUE(half.messages.starts_with("wrote " + file + "\nretrace study: ")) << half.messages;
  const Outcome same = run_command({"study", "softmax", "--trace", file, "--out", file});
  EXPECT_EQ(same.messages, "study: --out and --trace both name " + file + "; give the page another name\n");
}

TEST(StudyCommand, AFlagThatDoesNotApplyIsRefusedAndOneThatDoesChangesTheTrace) {
  for (const std::string_view name : subject_names()) {
    const std::string subject(name);
    const std::string usual = run_command({"study", subject, "--json"}).results;
    for (const std::string flag : {"--tokens", "--size", "--slots", "--heads"}) {
      const Outcome outcome = run_command({"study", subject, flag, flag == "--heads" ? "4" : "16", "--json"});
      if (outcome.status == 0)
        EXPECT_NE(outcome.results, usual) << subject << " " << flag;
      else
        EXPECT_NE(outcome.messages.find(subject + " has no " + flag + "; leave it out"), std::string::npos)
            << outcome.messages;
    }
    const Outcome causal = run_command({"study", subject, "--causal", "--json"});
    EXPECT_EQ(causal.status == 0, causal.status == 0 && causal.results != usual) << subject << " --causal";
  }
}

TEST(StudyCommand, FlagsOfSubjectsAreNotOfExpressionsAndTraces) {
  const TemporaryFolder folder;
  const std::string file = folder / "x.trace.safetensors";
  run_command({"study", "softmax", "--trace", file});
  EXPECT_EQ(run_command({"study", file, "--seed", "3"}).messages,
            "study: the trace " + file + " has no --seed; leave it out\n");
  EXPECT_EQ(run_command({"study", file, "--fused"}).messages,
            "study: the trace " + file + " has no --fused; leave it out\n");
  EXPECT_EQ(run_command({"study", "--expr", "x * x", "--input", "x=3", "--tokens", "4"}).messages,
            "study: an expression has no --tokens; leave it out\n");
  EXPECT_EQ(run_command({"study", "softmax", "--heads", "3"}).messages,
            "study: softmax has no --heads; leave it out; it has --tokens, --size\n");
  EXPECT_EQ(run_command({"study", "gru", "--dot", "--gradient-flow"}).status, 2);
  EXPECT_EQ(run_command({"study", "gru", "--dot", "--check-elements", "2"}).status, 2);
}

TEST(StudyCommand, APageEndsInHtml) {
  const TemporaryFolder folder;
  const Outcome outcome = run_command({"study", "softmax", "--out", folder / "x.txt"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find("does not end in .html; give it that ending"), std::string::npos) << outcome.messages;
  EXPECT_FALSE(std::filesystem::exists(folder / "x.txt"));
  EXPECT_EQ(run_command({"study", "softmax", "--out", folder / "x.htm"}).status, 0);
}

TEST(StudyCommand, ASampleOfATrainedModelIsShownWithItsQuestionAnswersAndLoss) {
  const TemporaryFolder folder;
  const std::string run = folder / "run";
  ASSERT_EQ(run_command({"train", "babi", "--model", "gru", "--hidden", "4", "--steps", "2", "--test-samples", "20",
                         "--out", run, "--quiet"})
                .status,
            0);
  for (const std::vector<std::string>& which : {std::vector<std::string>{"--worst"}, {"--example", "3"}}) {
    std::vector<std::string> line{"study", run, "--all"};
    line.insert(line.end(), which.begin(), which.end());
    const std::string shown = run_command(line).results;
    for (const char* part : {"\n  right answer: ", "\n  answer of the model: ", "\n  loss: ", "\n  question:\n"})
      EXPECT_NE(shown.find(part), std::string::npos) << part;
    EXPECT_NE(shown.find("\n    where is the ball?  "), std::string::npos) << "rows have their words\n" << shown;
  }
  EXPECT_EQ(run_command({"study", run, "--tokens", "3"}).messages,
            "study: the trained model " + run + " has no --tokens; leave it out\n");
  ASSERT_EQ(run_command({"study", run, "--worst", "--out", folder / "x.html"}).status, 0);
  EXPECT_NE(page_contents(folder / "x.html").find("\"notes\":[\"right answer: "), std::string::npos);
}

TEST(StudyCommand, TestSamplesAreOfTrainedModelsAlone) {
  const TemporaryFolder folder;
  const std::string file = folder / "x.trace.safetensors";
  run_command({"study", "softmax", "--trace", file});
  const std::string rest = " has no test samples; leave out --worst, or name a folder of train --out\n";
  EXPECT_EQ(run_command({"study", "softmax", "--worst"}).messages, "study: softmax" + rest);
  EXPECT_EQ(run_command({"study", file, "--worst"}).messages, "study: the trace " + file + rest);
  EXPECT_EQ(run_command({"study", "--expr", "x * x", "--input", "x=3", "--worst"}).messages,
            "study: an expression" + rest);
  EXPECT_NE(run_command({"study", "softmax", "--example", "3"}).messages.find("leave out --example"),
            std::string::npos);
}

TEST(StudyCommand, AnUnknownSubjectGivesTheNearest) {
  const Outcome outcome = run_command({"study", "relational-memry"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.messages.find("did you mean relational-memory"), std::string::npos) << outcome.messages;
}

}  // namespace
}  // namespace retrace
