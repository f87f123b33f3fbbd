// Every head of every attention of a sample, as numbers and as tables.
#include <gtest/gtest.h>
#include <retrace/core/tape/tape.h>
#include <retrace/models/reports/evaluation/attention_heads.h>
#include <retrace/models/reports/evaluation/attention_tables.h>
#include <retrace/models/tasks/nth_farthest.h>
#include <retrace/models/training/evaluate.h>
#include <retrace/nn/layers/multi_head_attention.h>
#include <retrace/ops/ops.h>

#include <cmath>
#include <string>
#include <vector>

namespace retrace {
namespace {

double row_sum(const AttentionHead& head, std::int64_t row) {
  double sum = 0;
  for (std::int64_t column = 0; column < head.columns; ++column)
    sum += head.weights[static_cast<std::size_t>(row * head.columns + column)];
  return sum;
}

class AttentionHeads : public testing::Test {
 protected:
  std::vector<AttentionHead> heads_of(std::string_view name) const {
    const DtypeScope scope(f64);
    const NthFarthest task({.vectors = 3, .dims = 2});
    Random random(1);
    const auto model = make_model(
        name,
        {.input = task.input_size(), .hidden = 8, .output = task.output_size(), .slots = 3, .heads = 2, .time = 3},
        random);
    Random samples(2);
    return attention_heads(*model, task, task.sample(samples, 1));
  }
};

TEST_F(AttentionHeads, OfEveryModelWithAttentionRowsOfWeightsSumToOne) {
  for (const char* name : {"attention", "rmc", "relational-rnn"}) {
    const std::vector<AttentionHead> heads = heads_of(name);
    ASSERT_FALSE(heads.empty()) << name;
    for (const AttentionHead& head : heads) {
      ASSERT_EQ(std::ssize(head.weights), head.rows * head.columns) << name;
      ASSERT_EQ(head.gradients.size(), head.weights.size()) << name;
      for (std::int64_t row = 0; row < head.rows; ++row) EXPECT_NEAR(row_sum(head, row), 1, 1e-12) << name;
    }
  }
  EXPECT_TRUE(heads_of("lstm").empty());
}

TEST_F(AttentionHeads, TheCallsOfAMemoryAreItsStepsAndBlocksAreLayers) {
  const std::vector<AttentionHead> memory = heads_of("rmc");
  ASSERT_EQ(memory.size(), 3u * 2);
  EXPECT_EQ(memory[3].layer, memory[0].layer);
  EXPECT_EQ(memory[3].step, 1);
  EXPECT_EQ(memory[3].head, 1);
  EXPECT_EQ(memory[3].columns, memory[3].rows + 1) << "the slots and the input";
  const std::vector<AttentionHead> blocks = heads_of("attention");
  EXPECT_NE(blocks.front().layer, blocks.back().layer);
  EXPECT_EQ(blocks.back().step, 0);
}

/// y = softmax(q k^T / sqrt 2 + mask) v with a loss of random weights; `nudge` is added to the attention weights.
struct Attended {
  Tensor q, k, v, cotangent, mask = causal_mask(3, f64);

  explicit Attended(Random random = Random(5)) {
    const DtypeScope scope(f64);
    q = random.normal({1, 3, 2}), k = random.normal({1, 3, 2}), v = random.normal({1, 3, 2});
    cotangent = random.normal({1, 3, 2});
  }
  Tensor weights() const { return softmax(matmul(q, k, {.transpose_b = true}) / std::sqrt(2.0), -1, mask); }
  double loss_at(const Tensor& weights) const { return sum(matmul(weights, v) * cotangent).item(); }
};

TEST_F(AttentionHeads, TheGradientIsTheSlopeOfTheLossAndMaskedWeightsAreMarked) {
  const Attended point;
  std::vector<AttentionHead> heads;
  {
    const Tensor q = point.q.watch();
    Tape tape({.keep = true, .expand_fused = true});
    const Tensor loss = sum(attention(q, point.k, point.v, {.mask = point.mask}) * point.cotangent);
    heads = attention_heads(trace_backward(tape, loss));
  }
  ASSERT_EQ(heads.size(), 1u);
  const Tensor weights = point.weights();
  for (std::size_t place = 0; place < 9; ++place) {
    EXPECT_NEAR(heads[0].weights[place], weights.values<double>()[place], 1e-15);
    EXPECT_EQ(heads[0].masked[place], place % 3 > place / 3) << place;
    constexpr double step = 1e-3;
    const Tensor above = weights.clone(), below = weights.clone();
    above.mutable_values<double>()[place] += step;
    below.mutable_values<double>()[place] -= step;
    EXPECT_NEAR(heads[0].gradients[place], (point.loss_at(above) - point.loss_at(below)) / (2 * step), 1e-10);
  }
}

TEST_F(AttentionHeads, ASummaryIsOverTheStepsOfAHead) {
  const auto head = [](std::int64_t step, std::int64_t number, std::vector<double> weights, double gradient) {
    return AttentionHead{.layer = "core",
                         .step = step,
                         .head = number,
                         .rows = 1,
                         .columns = 4,
                         .weights = std::move(weights),
                         .gradients = {0, gradient, 0, 0},
                         .masked = std::vector<bool>(4)};
  };
  const std::vector<HeadSummary> summaries = summarise(
      {head(0, 0, {1, 0, 0, 0}, 3), head(0, 1, {0.25, 0.25, 0.25, 0.25}, 1), head(1, 0, {0.5, 0.5, 0, 0}, -4)});
  ASSERT_EQ(summaries.size(), 2u);
  EXPECT_DOUBLE_EQ(summaries[0].columns_seen, 1.5) << "the mean of 1 and 2";
  EXPECT_DOUBLE_EQ(summaries[0].gradient_norm, 5);
  EXPECT_EQ(summaries[1].head, 1);
  EXPECT_DOUBLE_EQ(summaries[1].columns_seen, 4);
}

TEST_F(AttentionHeads, ASoftmaxThatMixesNothingIsNoAttention) {
  const Attended point;
  const Tensor q = point.q.watch();
  Tape tape({.keep = true});
  const Tensor loss = sum(softmax(q) * point.v);
  EXPECT_TRUE(attention_heads(trace_backward(tape, loss)).empty());
}

std::size_t count(const std::string& page, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = page.find(word); at != std::string::npos; at = page.find(word, at + 1)) ++found;
  return found;
}

TEST(AttentionTables, NumbersHaveTheirSignAndMaskedCellsADot) {
  const AttentionHead head{.layer = "a<b",
                           .rows = 2,
                           .columns = 2,
                           .weights = {1, 0, 0.25, 0.75},
                           .gradients = {-0.04, 0.3, 0.02, 0},
                           .masked = {false, true, false, false}};
  const std::string page = attention_tables({head});
  EXPECT_NE(page.find("<h3>a&lt;b</h3>"), std::string::npos) << page;
  EXPECT_NE(page.find("<th scope=row>0<td class=p8>1.00<td class=m>·"), std::string::npos) << page;
  EXPECT_NE(page.find("<td class=p2>.25<td class=p6>.75"), std::string::npos) << page;
  EXPECT_NE(page.find("in units of 1e-01"), std::string::npos) << page;
  EXPECT_NE(page.find("<td class=n2>-.40<td class=m>·"), std::string::npos) << page;
  EXPECT_NE(page.find("<td class=p1>.20<td class=z>0"), std::string::npos) << page;
}

TEST(AttentionTables, AVanishingGradientIsPrintedInUnitsOfItsStep) {
  const AttentionHead first{.layer = "core",
                            .rows = 1,
                            .columns = 2,
                            .weights = {0.5, 0.5},
                            .gradients = {2e-9, -1e-9},
                            .masked = {false, false}};
  AttentionHead second = first;
  second.step = 1;
  second.gradients = {0, 0.5};
  const std::string page = attention_tables({first, second});
  EXPECT_NE(page.find("units of 1e-09</caption>"), std::string::npos) << page;
  EXPECT_NE(page.find("<td class=p8>2.00<td class=n4>-1.00"), std::string::npos) << page;
  EXPECT_NE(page.find("units of 1e-01</caption>"), std::string::npos) << page;
  second.gradients = {0, 0};
  EXPECT_NE(attention_tables({first, second}).find("gradient: none flowed back"), std::string::npos);
}

TEST(AttentionTables, MoreNumbersThanAPageCanHoldAreCutAndItSaysSo) {
  std::vector<AttentionHead> heads;
  for (std::int64_t step = 0; step < 30; ++step)
    heads.push_back({.layer = "layer",
                     .step = step,
                     .rows = 20,
                     .columns = 20,
                     .weights = std::vector<double>(400, 0.05),
                     .gradients = std::vector<double>(400, -1),
                     .masked = std::vector<bool>(400)});
  const std::string whole = attention_tables(heads, 12'000);
  EXPECT_EQ(count(whole, "<td class=p8>"), 12'000u);
  EXPECT_NE(whole.find("Numbers in every cell"), std::string::npos) << "the cells of wide tables are small";
  const std::string cut = attention_tables(heads, 3'000);
  EXPECT_EQ(count(cut, "<td class=p8>"), 3'000u) << "10 x 10 of each";
  EXPECT_NE(cut.find("Cut to the first 10 rows and columns; eval.json has all of up to 20."), std::string::npos);
  const std::string fewer = attention_tables(heads, 640);
  EXPECT_EQ(count(fewer, "<td class=p8>"), 640u) << "8 x 8 of 10 steps";
  EXPECT_NE(fewer.find("The first 10 of 30 steps"), std::string::npos);
}

TEST(AttentionTables, ThePageOfTheLargestAttentionStaysSmall) {
  std::vector<AttentionHead> heads;
  for (std::int64_t head = 0; head < 8; ++head)
    heads.push_back({.layer = "layer",
                     .head = head,
                     .rows = 200,
                     .columns = 200,
                     .weights = std::vector<double>(40'000, 1.0 / 200),
                     .gradients = std::vector<double>(40'000, -1.0 / 3),
                     .masked = std::vector<bool>(40'000)});
  EXPECT_LT(attention_tables(heads).size(), 2'400'000u);
}

}  // namespace
}  // namespace retrace
