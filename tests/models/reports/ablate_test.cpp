// Each factor of an ablation changes what it says and nothing else, and the baseline is the model that it always is.
#include <retrace/models/reports/comparison/ablation.h>

#include <gtest/gtest.h>
#include <retrace/core/base/error.h>
#include <retrace/models/networks/rmc_model.h>
#include <retrace/models/training/model_info.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/zoo.h>

#include <map>

namespace retrace {
namespace {

AblateOptions small(const std::string& model, const std::string& memory = "cell") {
  AblateOptions options{.run = {.task = "pair-matching",
                                .model = {.name = model,
                                          .sizes = {.hidden = 12, .slot_size = 8, .slots = 4, .heads = 2},
                                          .memory = memory}},
                        .seeds = 2};
  options.run.fit = {
      .steps = 4, .batch = 8, .learning_rate = 1e-2, .validate_every = 2, .validation_samples = 16, .test_samples = 32};
  return options;
}

/// "factor setting" of every variation but the baseline.
std::vector<std::string> names_of(const Variations& variations) {
  std::vector<std::string> names;
  for (const Variation& variation : variations.kept)
    if (variation.factor != "baseline") names.push_back(variation.factor + " " + variation.setting);
  return names;
}

const RelationalMemoryCoreOptions& core_of(const SequenceModel& model) {
  return dynamic_cast<const SequenceModelOf<RmcModel>&>(model).module().core.options;
}

TEST(Ablate, HasEverySettingOfEveryFactorButTheBaselines) {
  const std::vector<std::string> rmc{
      "heads 1",     "heads 4",      "heads 8",      "slots 1",        "slots 2",           "slots 8",
      "gate memory", "gate none",    "residual off", "layer-norm off", "attention-mlp off", "key-size 2",
      "key-size 8",  "mlp-layers 1", "mlp-layers 3", "variant l0sg",   "variant blog",      "variant relgan"};
  EXPECT_EQ(names_of(variations_of(small("rmc"))), rmc);
  const std::vector<std::string> cell{"heads 1", "heads 4", "heads 8", "slots 1", "slots 2", "slots 8", "gate none"};
  EXPECT_EQ(names_of(variations_of(small("relational-rnn"))), cell);
  EXPECT_EQ(names_of(variations_of(small("relational-rnn", "gated"))), cell);
  const std::vector<std::string> notebook(cell.begin(), cell.end() - 1);
  EXPECT_EQ(names_of(variations_of(small("relational-rnn", "notebook"))), notebook);
}

TEST(Ablate, ABaselineWithoutAPartGetsItBack) {
  AblateOptions options = small("rmc");
  options.run.model.parts = {.gate = MemoryGate::none, .residual = false};
  options.factors = {"gate", "residual"};
  const std::vector<std::string> expected{"gate unit", "gate memory", "residual on"};
  EXPECT_EQ(names_of(variations_of(options)), expected);
}

TEST(Ablate, AFactorChangesItselfAlone) {
  const Variations variations = variations_of(small("rmc"));
  for (const Variation& variation : variations.kept) {
    const auto run = prepare(variation.run);
    const RelationalMemoryCoreOptions& core = core_of(*run.model);
    const auto is = [&](const char* factor, const char* setting) {
      return variation.factor == factor && variation.setting == setting;
    };
    const std::int64_t expected_heads = variation.factor == "heads" ? std::stoi(variation.setting) : 2;
    EXPECT_EQ(core.heads, expected_heads);
    EXPECT_EQ(core.heads * core.head_size, 8) << "more heads are smaller ones";
    EXPECT_EQ(core.slots, variation.factor == "slots" ? std::stoi(variation.setting) : 4);
    EXPECT_EQ(core.gate, is("gate", "none")     ? MemoryGate::none
                         : is("gate", "memory") ? MemoryGate::memory
                                                : MemoryGate::unit);
    EXPECT_EQ(core.residual, !is("residual", "off"));
    EXPECT_EQ(core.layer_norm, !is("layer-norm", "off"));
    const int layers = variation.factor == "mlp-layers" ? std::stoi(variation.setting) : 2;
    EXPECT_EQ(core.mlp_layers, is("attention-mlp", "off") ? 0 : layers);
    EXPECT_EQ(core.key_size, variation.factor == "key-size" ? std::stoi(variation.setting) : 0);
    EXPECT_EQ(core.variant.norm == MemoryNorm::joint_of_rows, is("variant", "l0sg"));
    EXPECT_EQ(core.variant.mlp == MemoryMlp::of_block, is("variant", "blog"));
    EXPECT_EQ(core.variant.packed_scale, is("variant", "relgan"));
  }
}

/// With slots of 8 features: 2 x 8 of the MLP's norm, (8 + 1) x 8 of each of its layers, and so on.
TEST(Ablate, ParametersAreThoseOfWhatIsLeft) {
  std::map<std::string, std::int64_t> parameters;
  for (const Variation& variation : variations_of(small("rmc")).kept)
    parameters[variation.factor + " " + (variation.factor == "baseline" ? "" : variation.setting)] =
        model_info(variation.run).parameters;
  const std::int64_t baseline = parameters["baseline "];
  const std::int64_t all_gates = 2 * (8 + 1) * 16, gates_of_slots = 2 * (8 + 1) * 2, norms = 2 * (24 + 8 + 8);
  EXPECT_EQ(parameters["heads 8"], baseline);
  EXPECT_EQ(parameters["slots 8"], baseline + 4 * 8 * 128) << "the answer is made of all slots";
  EXPECT_EQ(parameters["gate none"], baseline - all_gates);
  EXPECT_EQ(parameters["gate memory"], baseline - all_gates + gates_of_slots);
  EXPECT_EQ(parameters["residual off"], baseline);
  EXPECT_EQ(parameters["layer-norm off"], baseline - norms);
  EXPECT_EQ(parameters["attention-mlp off"], baseline - 2 * (8 + 1) * 8 - 2 * 8);
}

TEST(Ablate, EveryVariationAnswersOtherwise) {
  for (const AblateOptions& options : {small("rmc"), small("relational-rnn"), small("relational-rnn", "gated")}) {
    std::vector<Tensor> answers;
    for (const Variation& variation : variations_of(options).kept) {
      const auto run = prepare(variation.run);
      Random random(3);
      const Tensor answer = (*run.model)(run.task->sample(random, 4).x);
      for (const Tensor& other : answers)
        EXPECT_GT(max(abs(answer - other)).item(), 1e-6)
            << options.run.model.name << ", " << variation.factor << " " << variation.setting;
      answers.push_back(answer);
    }
  }
}

TEST(Ablate, TheBaselineIsTheModelThatCompareTrains) {
  AblateOptions options = small("rmc");
  options.run.model.sizes.slots = std::nullopt, options.run.model.sizes.heads = std::nullopt;  // the recipe's
  options.factors = {"residual"};
  const Ablation ablation = ablate(options);
  const Comparison alone =
      compare({.run = options.run, .models = {"rmc"}, .seeds = options.seeds, .learning_rates = {}});
  ASSERT_EQ(ablation.comparison.results.size(), 2U);
  const ModelResult& baseline = ablation.comparison.results[0];
  for (std::size_t seed = 0; seed < 2; ++seed) {
    EXPECT_EQ(baseline.runs[seed].losses, alone.results[0].runs[seed].losses);
    EXPECT_EQ(baseline.values[seed], alone.results[0].values[seed]);
  }
  const ModelResult& changed = ablation.comparison.results[1];
  EXPECT_NE(changed.runs[0].losses, baseline.runs[0].losses);
  EXPECT_DOUBLE_EQ(changed.against_first.mean, changed.value.mean - baseline.value.mean);
}

TEST(Ablate, SettingsThatCannotBeAreLeftOutAndSaid) {
  AblateOptions options = small("rmc");
  options.run.model.sizes.slot_size = 12;
  options.factors = {"heads"};
  const Variations variations = variations_of(options);
  EXPECT_EQ(names_of(variations), (std::vector<std::string>{"heads 1", "heads 4"}));
  EXPECT_EQ(variations.left_out, (std::vector<std::string>{"Left out: heads 8: 8 heads do not divide slots of "
                                                           "12 features; choose heads that do"}));
  EXPECT_EQ(variations_of(small("relational-rnn")).left_out.front(),
            "Left out: residual: relational-rnn:cell has no choice of it");
}

TEST(Ablate, BadOptionsAreRefused) {
  AblateOptions options = small("rmc");
  options.factors = {"heads", "resdual"};
  EXPECT_EQ(message_of([&] { variations_of(options); }),
            "ablate: there is no factor of rmc named 'resdual'; did you mean residual (known: heads, slots, gate, "
            "residual, layer-norm, attention-mlp, key-size, mlp-layers, variant)");
  options = small("relational-rnn");
  options.factors = {"residual"};
  EXPECT_EQ(message_of([&] {
              variations_of(options);
            }).find("ablate: there is no factor of relational-rnn:cell named 'residual'"),
            0U);
  const std::string models =
      text("relational-rnn, rmc, relational-memory", with_zoo(" and those of the zoo (retrace info zoo)"));
  EXPECT_EQ(message_of([] { variations_of(small("lstm")); }),
            "ablate: the model 'lstm' has no memory whose parts could be changed; choose one of " + models)
      << "it is no mistyped mlstm";
  EXPECT_EQ(message_of([] { variations_of(small("rcm")); }),
            "ablate: there is no model with a relational memory named 'rcm'; did you mean rmc (known: " + models + ")");
  options = small("rmc");
  options.seeds = 0;
  EXPECT_THROW(ablate(options), ValueError);
}

}  // namespace
}  // namespace retrace
