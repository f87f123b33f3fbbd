#include <gtest/gtest.h>
#include <retrace/core/tape/tape.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/reports/plots/curves.h>
#include <retrace/models/tasks/adding.h>
#include <retrace/models/training/fit.h>
#include <retrace/models/training/gradient_norms.h>
#include <retrace/nn/optim/clip.h>
#include <retrace/ops/ops.h>

#include <cmath>
#include <limits>
#include <sstream>

namespace retrace {
namespace {

TEST(GradientNorms, ALayerIsTheModuleUpToTheSecondName) {
  EXPECT_EQ(layer_of("core.blocks.0.qkv.weight"), "core.blocks.0");
  EXPECT_EQ(layer_of("core.blocks.12.qkv.norm.bias"), "core.blocks.12");
  EXPECT_EQ(layer_of("core.mlp.1.bias"), "core.mlp.1");
  EXPECT_EQ(layer_of("blocks.0.attention.query.weight"), "blocks.0.attention");
  EXPECT_EQ(layer_of("head.2.weight"), "head.2");
  EXPECT_EQ(layer_of("out.bias"), "out");
  EXPECT_EQ(layer_of("positions"), "positions");
}

TEST(GradientNorms, EachIsTheNormOfAllGradientsOfItsLayer) {
  const Parameter w(tensor({1.0, 2.0, 3.0})), b(tensor({4.0})), other(tensor({5.0}));
  {
    Tape tape;
    tape.backward(sum(w * tensor({1.0, 2.0, 2.0})) + sum(b * 4.0));
  }
  const std::vector<LayerGradient> norms =
      gradient_norms({{"out.weight", w}, {"input.weight", other}, {"out.bias", b}});
  ASSERT_EQ(norms.size(), 2u);
  EXPECT_EQ(norms[0].layer, "out");
  EXPECT_DOUBLE_EQ(norms[0].norm, 5) << "sqrt(1 + 4 + 4 + 16)";
  EXPECT_EQ(norms[1].layer, "input");
  EXPECT_EQ(norms[1].norm, 0) << "no gradient flowed there";
}

class WatchedFit : public testing::Test {
 protected:
  FitResult train(bool watch) {
    const Adding task({.length = 4});
    Random random = Random(1).stream("weights");
    const auto model = make_model("lstm", {.input = task.input_size(), .hidden = 8, .output = 1}, random);
    lines_.str("");
    return fit(*model, task,
               {.steps = 25,
                .batch = 4,
                .learning_rate = 1e-2,
                .validate_every = 10,
                .validation_samples = 16,
                .test_samples = 16,
                .metrics = &lines_,
                .watch_gradients = watch});
  }
  std::ostringstream lines_;
};

TEST_F(WatchedFit, EveryLineOfTheMetricsHasTheNormOfEachLayerBeforeClipping) {
  const FitResult result = train(true);
  ASSERT_EQ(result.history.size(), 3u) << "after steps 10, 20 and 25";
  for (const Metrics& metrics : result.history) {
    ASSERT_EQ(metrics.last_step.gradient_norms.size(), 2u);
    EXPECT_EQ(metrics.last_step.gradient_norms[0].layer, "recurrent");
    EXPECT_EQ(metrics.last_step.gradient_norms[1].layer, "out");
    double squares = 0;
    for (const LayerGradient& each : metrics.last_step.gradient_norms) squares += each.norm * each.norm;
    EXPECT_NEAR(std::sqrt(squares), metrics.last_step.gradient_norm, 1e-9 * metrics.last_step.gradient_norm);
  }
}

TEST_F(WatchedFit, ALineIsReadBackInTheOrderOfTheLayers) {
  const FitResult result = train(true);
  std::string line;
  std::istringstream lines(lines_.str());
  ASSERT_TRUE(std::getline(lines, line));
  const Metrics read = metrics_from_json("line 1", line);
  ASSERT_EQ(read.last_step.gradient_norms.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(read.last_step.gradient_norms[k].layer, result.history[0].last_step.gradient_norms[k].layer);
    EXPECT_EQ(read.last_step.gradient_norms[k].norm, result.history[0].last_step.gradient_norms[k].norm);
  }
  EXPECT_EQ(to_json(read).find("\"gradient_norms\":{\"recurrent\":"), line.find("\"gradient_norms\":{\"recurrent\":"));
}

TEST_F(WatchedFit, WatchingChangesNoNumberAndIsOffByDefault) {
  const FitResult watched = train(true), plain = train(false);
  EXPECT_EQ(watched.losses, plain.losses);
  EXPECT_EQ(watched.test.loss, plain.test.loss);
  EXPECT_EQ(lines_.str().find("gradient_norms"), std::string::npos);
  EXPECT_TRUE(layer_gradient_curves(plain.history).curves.empty());
}

TEST_F(WatchedFit, EachLayerIsACurve) {
  const Plot plot = layer_gradient_curves(train(true).history);
  ASSERT_EQ(plot.curves.size(), 2u);
  EXPECT_EQ(plot.curves[1].name, "out");
  EXPECT_EQ(plot.curves[1].x, (std::vector<double>{10, 20, 25}));
  EXPECT_TRUE(plot.log_y);
}

TEST_F(WatchedFit, TheGradientNormAndTheLearningRateAreCurvesInAnyCase) {
  const FitResult result = train(false);
  const Plot norms = gradient_norm_curve(result.history, 1e6), rates = learning_rate_curve(result.history);
  ASSERT_EQ(norms.curves.front().y.size(), 3u);
  EXPECT_EQ(norms.curves.front().y[1], result.history[1].last_step.gradient_norm);
  EXPECT_TRUE(norms.levels.empty()) << "a limit far from all norms would squeeze the curve";
  const auto [low, high] = std::minmax_element(norms.curves.front().y.begin(), norms.curves.front().y.end());
  EXPECT_EQ(gradient_norm_curve(result.history, std::sqrt(*low * *high)).levels.size(), 1u);
  EXPECT_EQ(rates.curves.front().y[2], result.history[2].last_step.learning_rate);
}

}  // namespace
}  // namespace retrace
