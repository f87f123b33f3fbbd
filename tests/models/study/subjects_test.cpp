// What `retrace study` shows: every subject, one sample of a trained model, and a model of the reader's own.
#include <retrace/core/trace/trace_json.h>
#include <retrace/models/study/subjects.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace retrace {
namespace {

std::set<std::string> names_in(const Trace& trace) {
  std::set<std::string> names;
  for (const TraceNode& node : trace.nodes) names.insert(node.name);
  return names;
}
std::set<std::string> ops_in(const Trace& trace) {
  std::set<std::string> ops;
  for (const TraceRecord& record : trace.records) ops.insert(record.op);
  return ops;
}
std::set<std::string> paths_in(const Trace& trace) {
  std::set<std::string> paths;
  for (const TraceScope& scope : trace.scopes) paths.insert(scope.path);
  return paths;
}

TEST(Subjects, EveryOneHasAGradientForEveryInputAndWeight) {
  for (const std::string_view name : subject_names()) {
    const Trace trace = study(name);
    EXPECT_FALSE(trace.records.empty()) << name;
    for (const TraceNode& node : trace.nodes) {
      EXPECT_TRUE(node.value.is_complete()) << name << " " << node.name;
      if (node.leaf && node.wants_gradient) {
        EXPECT_TRUE(node.gradient.is_complete()) << name << " " << node.name;
      }
      EXPECT_TRUE(!node.wants_gradient || !node.leaf || node.name[0] != 'x' || node.name == "x")
          << name << ": a leaf without a name, " << node.name;
    }
  }
}

TEST(Subjects, TheSameSeedGivesTheSameNumbers) {
  const auto json = [](std::uint64_t seed) { return to_json(study("lstm", {.seed = seed})); };
  EXPECT_EQ(json(3), json(3));
  EXPECT_NE(json(3), json(4));
}

TEST(Subjects, NamesAreThoseOfMembers) {
  const Trace trace = study("multi-head-attention");
  EXPECT_TRUE(names_in(trace).contains("query.weight"));
  EXPECT_TRUE(paths_in(trace).contains("mha/query"));
  const Trace model = study("attention-model");
  EXPECT_TRUE(names_in(model).contains("blocks.0.attention.query.weight"));
  EXPECT_TRUE(paths_in(model).contains("attention_model/blocks.0/attention/query"));
}

TEST(Subjects, FusedOpsAreShownAsTheirPartsOrAsOne) {
  EXPECT_TRUE(ops_in(study("attention")).contains("softmax"));
  EXPECT_EQ(ops_in(study("attention", {.expand_fused = false})), std::set<std::string>{"attention"});
}

TEST(Subjects, ACausalRowSeesNoLaterOne) {
  const Trace trace = study("attention", {.tokens = 3, .heads = 1, .causal = true});
  for (const TraceRecord& record : trace.records) {
    if (record.op != "softmax") continue;
    const Tensor& weights = trace.nodes[static_cast<std::size_t>(record.outputs[0])].value.values;
    const auto values = weights.values<double>();
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = i + 1; j < 3; ++j) EXPECT_EQ(values[i * 3 + j], 0);
    return;
  }
  FAIL() << "no softmax";
}

TEST(Subjects, SizesAndDtypeAreAsAsked) {
  const Trace trace = study("rnn", {.tokens = 5, .size = 3, .dtype = f32});
  EXPECT_EQ(trace.nodes[0].dtype, f32);
  bool found = false;
  for (const TraceNode& node : trace.nodes)
    if (node.name == "x") found = node.shape == Shape({1, 5, 3});
  EXPECT_TRUE(found);
}

TEST(Subjects, HaveElementsThatThreeWaysAgreeOn) {
  for (const std::string_view name : subject_names())
    for (const Dtype dtype : {f64, f32}) {
      const Computation computation = subject(name, {.causal = true, .dtype = dtype});
      Trace trace = trace_of(computation);
      check_elements(trace, computation, 1);
      EXPECT_EQ(trace.checks.size(), computation.leaves.size()) << name;
      for (const ElementCheck& check : trace.checks) {
        const std::string place =
            text(name, " ", trace.nodes[static_cast<std::size_t>(check.node)].name, " ", check.position);
        const double scale = std::max(1.0, std::abs(check.dual));
        EXPECT_NEAR(check.tape, check.dual, (dtype == f64 ? 1e-12 : 1e-4) * scale) << place;
        EXPECT_NEAR(check.difference, check.dual, 1e-7 * scale) << place;
      }
    }
}

/// Under the names of the formulas, step by step; and no two tensors of a module have one name.
TEST(Subjects, NameTheirIntermediates) {
  const std::vector<std::pair<const char*, std::vector<std::string>>> expected{
      {"softmax", {"y"}},
      {"attention", {"q", "k", "v", "scores", "weights", "heads", "y"}},
      {"multi-head-attention", {"q", "k", "v", "scores", "weights", "heads", "y"}},
      {"rnn", {"h", "h_1", "h_3"}},
      {"lstm", {"z", "i", "f", "g", "o", "c", "h", "i_1", "c_2", "h_3"}},
      {"gru", {"r", "z", "n", "h", "n_1", "h_3"}},
      {"relational-memory", {"q", "weights", "slots", "gates", "memory", "memory_1", "slots_3"}},
      {"rmc", {"q", "k", "v", "scores", "weights", "i", "f", "i_1", "y"}}};
  for (const auto& [subject, names] : expected) {
    const std::set<std::string> found = names_in(study(subject));
    for (const std::string& name : names) EXPECT_TRUE(found.contains(name)) << subject << " has no " << name;
  }
  for (const std::string_view subject : subject_names()) {
    const Trace trace = study(subject);
    std::set<std::pair<std::string, std::string>> seen;
    for (const TraceRecord& record : trace.records)
      for (const int output : record.outputs) {
        const std::string& name = trace.nodes[static_cast<std::size_t>(output)].name;
        EXPECT_TRUE(seen.emplace(record.path, name).second) << subject << " has two " << name << " in " << record.path;
      }
  }
}

/// A tape that keeps nothing has no reader.
TEST(Subjects, ATrainingNamesNothing) {
  const Tape tape;
  Random random(1);
  EXPECT_TRUE(softmax(random.normal({2, 2}).watch()).name().empty());
  EXPECT_TRUE(lstm_step(zeros({1, 8}), zeros({1, 2}), zeros({1, 2}), random.normal({8, 2}).watch()).h.name().empty());
}

TEST(Subjects, SayWhatIsWrong) {
  EXPECT_NE(message_of([] { study("atention"); }).find("did you mean attention"), std::string::npos);
  EXPECT_EQ(message_of([] { study("rnn", {.tokens = 0}); }), "study: tokens is 0; it must be 1 or more");
  EXPECT_NE(message_of<ShapeError>([] { study("rmc", {.size = 6, .heads = 4}); }).find("do not divide"),
            std::string::npos);
  EXPECT_NE(message_of<ShapeError>([] { study("attention", {.size = 7, .heads = 2}); }).find("do not divide"),
            std::string::npos);
}

}  // namespace
}  // namespace retrace
