// How gradients flow through time: against closed forms, and against the gradients of the trace.
#include <retrace/core/trace/trace_json.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/study/gradient_flow.h>
#include <retrace/models/study/subjects.h>
#include <retrace/models/study/terminal/flow_text.h>
#include <retrace/nn/layers/recurrent.h>
#include <retrace/tests/errors.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

namespace retrace {
namespace {

constexpr std::array through_time{
    "rnn", "lstm", "gru", "relational-memory", "relational-rnn", "rmc", "multi-head-attention", "attention-model"};

double norm_of(const Tensor& x) {
  double squares = 0;
  for (const double value : x.values<double>()) squares += value * value;
  return std::sqrt(squares);
}

/// |J| of a flow with this title.
const GradientFlow& flow_of(const std::vector<GradientFlow>& flows, std::string_view title) {
  const auto found = std::ranges::find(flows, title, &GradientFlow::title);
  if (found == flows.end()) throw std::runtime_error(text("no flow ", title));
  return *found;
}

/// h_t = h_(t-1) W + x_t U has d h_t / d x_s = U W^(t-s).
TEST(GradientFlow, OfALinearNetworkIsAPowerOfItsMatrix) {
  const DtypeScope scope(f64);
  Random random(7);
  const std::int64_t times = 5;
  const Tensor w = random.normal({3, 3}), u = random.normal({2, 3}), x = random.normal({1, times, 2});
  const auto states = [&](const Tensor& rows) {
    Tensors all_states;
    Tensor h = zeros({rows.dim(0), 3});
    for (const Tensor& now : steps_of(rows)) all_states.push_back(h = matmul(h, w) + matmul(now, u));
    return all_states;
  };
  const auto matrix = jacobian_norms(states, x);
  ASSERT_EQ(matrix.size(), 5u);
  for (std::size_t t = 0; t < 5; ++t)
    for (std::size_t s = 0; s < 5; ++s) {
      Tensor product = u;
      for (std::size_t k = s; k < t; ++k) product = matmul(product, w);
      EXPECT_NEAR(matrix[t][s], s > t ? 0 : norm_of(product), 1e-13 * norm_of(product)) << t << " " << s;
    }
}

/// More elements than one batch of products has, and states of different sizes.
TEST(GradientFlow, TakesTheProductsOfLargeStatesInPortions) {
  const DtypeScope scope(f64);
  const Tensor x = ones({1, 3, 50});
  const auto states = [](const Tensor& rows) {
    Tensors parts = steps_of(rows);
    parts[1] = concat({parts[0], parts[1]}, 1);
    return parts;
  };
  const auto matrix = jacobian_norms(states, x);
  const double one = std::sqrt(50.0);
  EXPECT_EQ(matrix, (std::vector<std::vector<double>>{{one, 0, 0}, {one, one, 0}, {0, 0, one}}));
}

/// c' = f c + i g: with f = 1 and no recurrent weights, d loss / d c_t is the same at all steps.
TEST(GradientFlow, AnOpenForgetGateKeepsTheGradientOfTheCell) {
  const DtypeScope scope(f64);
  Random random(3);
  const Lstm lstm(2, 4, random);
  for (double& weight : lstm.cell.weight_hh.mutable_values<double>()) weight = 0;
  for (std::size_t k = 4; k < 8; ++k) lstm.cell.bias.mutable_values<double>()[k] = 60;
  freeze(lstm);
  const Tensor u = random.normal({1, 4});
  const ThroughTime computation{random.normal({1, 8, 2}), [&](const Tensor& x) { return states_of(lstm, x); },
                                [&](const StatesOverTime& states) { return sum(states.states[1].values.back() * u); }};
  const std::vector<GradientFlow> flows = gradient_flow(computation);
  const GradientFlow& cell = flow_of(flows, "c");
  for (const double norm : cell.norms[0].values) EXPECT_NEAR(norm, norm_of(u), 1e-14);
  EXPECT_EQ(sentence_of(cell.norms[0]).find("vanish"), std::string::npos);
  for (std::size_t s = 0; s < 8; ++s)
    EXPECT_NEAR(cell.matrix[7][s], cell.matrix[s][s], 1e-14) << "what x_" << s << " wrote stays";
}

/// Within a step, h = o tanh(c): what flows from h to c counts for c.
TEST(GradientFlow, OfTheLastCellIsThatOfItsState) {
  const StudyOptions options{.tokens = 2, .size = 3};
  const Computation lstm = subject("lstm", options);
  const StatesOverTime states = lstm.through_time->states(lstm.through_time->x);
  const auto h = states.states[0].values.back().values<double>(), c = states.states[1].values.back().values<double>();
  const Tensor u = lstm.cotangent_of(states.states[0].values.back());
  double squares = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    const double tanh_c = std::tanh(c[k]), dc = u.values<double>()[k] * h[k] / tanh_c * (1 - tanh_c * tanh_c);
    squares += dc * dc;
  }
  EXPECT_NEAR(flow_of(gradient_flow_of(lstm), "c").norms[0].values.back(), std::sqrt(squares), 1e-13);
}

TEST(GradientFlow, IsCausalWhereTheNetworkIs) {
  for (const std::string_view name : through_time) {
    const bool sees_all = name == "attention-model";
    for (const GradientFlow& flow : gradient_flow_of(subject(name, {.causal = true})))
      for (std::size_t t = 0; t < flow.matrix.size(); ++t)
        for (std::size_t s = 0; s < 4; ++s)
          EXPECT_EQ(flow.matrix[t][s] != 0, s <= t || sees_all) << name << " " << flow.title << " " << t << " " << s;
  }
}

/// The steps compute what the traced network does, so that the gradients of the input are the same.
TEST(GradientFlow, HasTheGradientsOfTheTrace) {
  for (const std::string_view name : through_time) {
    const Computation computation = subject(name);
    const std::vector<double> norms = flow_of(gradient_flow_of(computation), "x").norms[0].values;
    const Trace trace = trace_of(computation);
    const auto x = std::ranges::find(trace.nodes, "x", &TraceNode::name);
    ASSERT_NE(x, trace.nodes.end());
    for (std::int64_t t = 0; t < 4; ++t)
      EXPECT_NEAR(norms[static_cast<std::size_t>(t)], norm_of(slice(x->gradient.values, {0, t}).clone()), 1e-12)
          << name << " " << t;
  }
}

TEST(GradientFlow, LeavesTheGradientsOfOtherLeaves) {
  const Computation computation = subject("rmc");
  trace_of(computation);
  const auto gradients = [&] {
    std::vector<std::vector<double>> all_gradients;
    for (const auto& [name, leaf] : computation.leaves)
      all_gradients.emplace_back(leaf.grad().values<double>().begin(), leaf.grad().values<double>().end());
    return all_gradients;
  };
  const auto earlier = gradients();
  gradient_flow_of(computation);
  EXPECT_EQ(gradients(), earlier);
  for (const auto& [name, leaf] : computation.leaves) EXPECT_TRUE(leaf.wants_gradient()) << name;
}

TEST(GradientFlow, HasARowForEachStateSlotAndLayer) {
  const auto rows = [](std::string_view name) {
    std::string result;
    for (const GradientFlow& flow : gradient_flow_of(subject(name, {.slots = 2})))
      for (const GradientFlow::Norms& norms : flow.norms) result += flow.title + ":" + norms.name + " ";
    return result;
  };
  EXPECT_EQ(rows("lstm"), "h:h c:c x:x ");
  EXPECT_EQ(rows("relational-rnn"), "h:h c:c memory:slot 0 memory:slot 1 x:x ");
  EXPECT_EQ(rows("attention-model"), "block 0:block 0 block 1:block 1 y:y x:x ");
}

/// A module of the reader's own, with states or without.
template <bool shows_states> struct Mean {
  Tensor operator()(const Tensor& x) const { return mean(x, 1); }
  StatesOverTime states(const Tensor& x) const requires shows_states {
    StatesOverTime result;
    Tensor total = zeros({x.dim(0), x.dim(2)}, x.dtype());
    for (const Tensor& now : steps_of(x)) result.add("total", total = total + now);
    result.answers = stack(result.states[0].values, 1) / static_cast<double>(x.dim(1));
    return result;
  }
  void visit(auto&&) const {}
};

TEST(GradientFlow, OfAModelOfOnesOwnIsThatOfItsStatesOrAnswers) {
  const DtypeScope scope(f64);
  const auto flow = [](const SequenceModel& model) {
    const ThroughTime computation{ones({1, 3, 4}), [&](const Tensor& x) { return model.states(x); },
                                  [](const StatesOverTime& states) { return sum(at_step(states.answers, 2)); }};
    return gradient_flow(computation)[0];
  };
  const GradientFlow with_states = flow(SequenceModelOf<Mean<true>>()), without = flow(SequenceModelOf<Mean<false>>());
  EXPECT_EQ(with_states.title, "total");
  EXPECT_NEAR(with_states.norms[0].values[0], 2.0 / 3, 1e-15);
  EXPECT_EQ(with_states.matrix[2], (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(without.title, "y");
  EXPECT_EQ(without.norms[0].values, (std::vector<double>{0, 0, 2}));
  EXPECT_NEAR(without.matrix[1][0], 1, 1e-15);
}

TEST(GradientFlow, LeavesOutAMatrixThatTakesTooManyProducts) {
  const Computation rnn = subject("rnn");
  EXPECT_FALSE(gradient_flow(*rnn.through_time, 4 * 8)[0].matrix.empty());
  const std::vector<GradientFlow> flows = gradient_flow(*rnn.through_time, 4 * 8 - 1);
  EXPECT_TRUE(flows[0].matrix.empty());
  EXPECT_FALSE(flows[0].norms.empty());
}

TEST(GradientFlow, NeedsStepsInTime) {
  EXPECT_NE(message_of([] { gradient_flow_of(subject("softmax")); }).find("softmax has no steps in time"),
            std::string::npos);
}

TEST(FlowText, SaysWhereTheGradientVanishes) {
  EXPECT_EQ(sentence_of({"h", {1e-9, 1e-4, 0.5, 0.2}}),
            "h vanishes: at step 1 it is below 1/1000 of its largest, 0.5 at step 2");
  EXPECT_EQ(sentence_of({"h", {1e-3, 1}}), "h is largest, 1 at step 1; at the first step it is 0.001 of that");
  EXPECT_EQ(sentence_of({"h", {0, 0, 2, 3}}), "h is largest, 3 at step 3, and exactly 0 before step 2");
  EXPECT_EQ(sentence_of({"h", {3, 1}}), "h is largest at the first step: 3");
  EXPECT_EQ(sentence_of({"h", {0, 0}}), "h: nothing flows back");
  EXPECT_EQ(sentence_of({"h", {1, INFINITY}}), "h is inf at step 1");
}

TEST(FlowText, DrawsMatricesOnALogScale) {
  const GradientFlow flow{"h", 3, {{"h", {0.1, 0.2, 0.4}}}, {{10, 0, 0}, {1, 10, 0}, {1e-9, 0.1, NAN}}};
  const std::string words = to_text(std::vector{flow});
  EXPECT_NE(words.find("       0  @    \n       1  # @  \n       2  . + X\n"), std::string::npos) << words;
  EXPECT_EQ(words.find('\x1b'), std::string::npos);
  EXPECT_NE(to_text(std::vector{flow}, {.colour = true}).find('\x1b'), std::string::npos);
}

TEST(FlowText, SaysThatAMatrixWasLeftOut) {
  const GradientFlow state{.title = "h", .times = 2, .norms = {{"h", {0.5, 1}}}, .matrix = {}},
      input{.title = "x", .times = 2, .norms = {{"x", {0.5, 1}}}, .matrix = {}};
  const std::string words = to_text(std::vector{state, input});
  EXPECT_NE(words.find("|d h_t / d x_s| was left out"), std::string::npos) << words;
  EXPECT_EQ(words.find("|d x_t"), std::string::npos) << "the input has no matrix: " << words;
}

TEST(FlowText, FitsInto80Columns) {
  const std::vector<double> numbers(70, 1.2345e-100);
  GradientFlow flow{"memory", 70, {}, std::vector<std::vector<double>>(70, numbers)};
  for (int slot = 0; slot < 9; ++slot) flow.norms.push_back({text("slot ", slot), numbers});
  std::istringstream lines(to_text(std::vector{flow}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

}  // namespace
}  // namespace retrace
