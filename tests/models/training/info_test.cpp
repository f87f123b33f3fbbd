// The output of `retrace info`: names, shapes, counts, bytes and work, against sums by hand.
#include <gtest/gtest.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/training/flops.h>
#include <retrace/models/training/model_info.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

std::string info_text(std::vector<std::string> words) {
  words.insert(words.begin(), "info");
  const Outcome outcome = run_command(words);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.messages, "");
  return outcome.results;
}

/// Pair matching: 10 rows of 21 features (one-hot of 20 and a marker), 20 answers.
constexpr std::int64_t time_steps = 10, in = 21, out = 20, hidden = 8, batch = 5;
RunOptions pairs(const std::string& model, Dtype dtype = f32) {
  RunOptions options{.task = "pair-matching", .model = {.name = model, .sizes = {.hidden = hidden}}, .dtype = dtype};
  options.fit.batch = batch;
  return options;
}

TEST(Info, NamesEveryWeightOfAnLstmWithShapeAndCount) {
  const ModelInfo info = model_info(pairs("lstm"));
  const std::vector<std::pair<std::string, Shape>> expected{{"recurrent.weight_ih", {4 * hidden, in}},
                                                            {"recurrent.weight_hh", {4 * hidden, hidden}},
                                                            {"recurrent.bias", {4 * hidden}},
                                                            {"out.weight", {out, hidden}},
                                                            {"out.bias", {out}}};
  ASSERT_EQ(info.weights.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(info.weights[k].name, expected[k].first);
    EXPECT_EQ(info.weights[k].shape, expected[k].second);
    EXPECT_EQ(info.weights[k].count, expected[k].second.numel());
  }
  EXPECT_EQ(info.parameters, 4 * hidden * (in + hidden + 1) + out * (hidden + 1));
  EXPECT_EQ(info.batch, batch);
}

TEST(Info, BytesAreThoseOfTheDtype) {
  EXPECT_EQ(model_info(pairs("gru", f32)).bytes, 4 * model_info(pairs("gru")).parameters);
  EXPECT_EQ(model_info(pairs("gru", f64)).bytes, 8 * model_info(pairs("gru")).parameters);
}

/// Scores and sums of three heads, with 2 features per key and 4 per value, whether the weights are stored or not.
TEST(Info, WorkOfAttentionIsThatOfItsProducts) {
  for (const std::int64_t length : {5, 200}) {
    const Tensor q = parameter(ones({2, 3, 6})), k = parameter(ones({2, length, 6})),
                 v = parameter(ones({2, length, 12}));
    const Tensor qkv = parameter(ones({2, length, 24}));
    Tape tape;
    attention(q, k, v, {.heads = 3});
    packed_attention(qkv, {.heads = 3, .key_size = 2});
    EXPECT_EQ(forward_flops(*tape.records()[0]), 2 * 2 * 3 * 3 * length * (2 + 4));
    EXPECT_EQ(forward_flops(*tape.records()[1]), 2 * 2 * 3 * length * length * (2 + 4));
  }
}

/// Two for each multiply-add of the input's product, the recurrent one and that of the answer; backward takes twice as
/// many.
TEST(Info, WorkOfALayerIsThatOfItsProducts) {
  for (const auto& [name, gates] : {std::pair{"lstm", 4}, {"gru", 3}, {"rnn", 1}}) {
    const std::int64_t forward = 2 * time_steps * gates * hidden * (in + hidden) + 2 * hidden * out;
    EXPECT_EQ(model_info(pairs(name)).flops_a_sample, 3 * forward) << name;
  }
}

TEST(Info, CountsWhatTheModelHasForEveryNameAndMemory) {
  for (const std::string_view name : model_names())
    for (const std::string_view memory : memory_names()) {
      RunOptions options = pairs(std::string(name));
      options.model.memory = memory;
      options.model = without_missing_options(options.model);
      const ModelInfo info = model_info(options);
      std::set<std::string> names;
      std::int64_t sum = 0;
      for (const ModelInfo::Weight& weight : info.weights) {
        EXPECT_TRUE(names.insert(weight.name).second) << name << ": " << weight.name;
        sum += weight.count;
      }
      EXPECT_EQ(info.parameters, sum) << name;
      EXPECT_EQ(info.parameters, count_parameters(*prepare(options).model)) << name;
      EXPECT_GT(info.flops_a_sample, 0) << name;
    }
}

TEST(Info, ATaskOfAFileIsRefused) {
  for (const char* task : {"text", "data"}) {
    const Outcome outcome = run_command({"info", "lstm", "--task", task});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.messages.find(text("retrace info: there is no task named '", task, "'")), std::string::npos)
        << outcome.messages;
  }
}

TEST(Info, TheHiddenSizeCanBeChosen) {
  const std::string json = run_command({"info", "lstm", "--hidden", "7", "--json"}).results;
  EXPECT_NE(json.find("[28,7]"), std::string::npos) << json;
}

TEST(Info, TheTextHasALineForEveryWeightAndTheSums) {
  const std::string text = info_text({"lstm", "--task", "pair-matching"});
  const ModelInfo info = model_info({.task = "pair-matching", .model = {.name = "lstm"}});
  EXPECT_TRUE(text.starts_with("lstm, with the sizes for pair-matching\n")) << text;
  std::istringstream lines(text);
  std::string line;
  for (const ModelInfo::Weight& weight : info.weights) {
    while (std::getline(lines, line) && !line.starts_with(weight.name + " ")) {
    }
    EXPECT_NE(line.find(to_text(weight.shape)), std::string::npos) << weight.name << " in " << text;
    EXPECT_TRUE(line.ends_with(" " + std::to_string(weight.count))) << line;
  }
  const std::string sums = std::to_string(info.parameters) + " parameters, " + std::to_string(info.bytes) + " bytes\n";
  EXPECT_NE(text.find(sums), std::string::npos) << text;
  EXPECT_NE(text.find("per step of " + std::to_string(info.batch)), std::string::npos) << text;
}

TEST(Info, TheJsonHasTheSameNumbers) {
  const auto json = Json::parse(info_text({"rmc", "--task", "babi", "--json"}));
  const ModelInfo info = model_info({.task = "babi", .model = {.name = "rmc"}});
  EXPECT_EQ(json["model"], "rmc");
  EXPECT_EQ(json["task"], "babi");
  EXPECT_EQ(json["parameters"], info.parameters);
  EXPECT_EQ(json["bytes"], info.bytes);
  EXPECT_EQ(json["flops_a_sample"], info.flops_a_sample);
  EXPECT_EQ(json["batch"], info.batch);
  ASSERT_EQ(json["weights"].size(), info.weights.size());
  for (std::size_t k = 0; k < info.weights.size(); ++k) {
    const ModelInfo::Weight& weight = info.weights[k];
    EXPECT_EQ(json["weights"][k]["name"], weight.name);
    EXPECT_EQ(json["weights"][k]["count"], weight.count);
    EXPECT_EQ(json["weights"][k]["shape"].get<std::vector<std::int64_t>>(),
              std::vector<std::int64_t>(weight.shape.begin(), weight.shape.end()));
  }
}

}  // namespace
}  // namespace retrace
