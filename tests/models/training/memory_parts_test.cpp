// The options of the relational memory in a model made by name.
#include <gtest/gtest.h>
#include <retrace/models/training/model_info.h>
#include <retrace/models/training/stored_run.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/json.h>
#include <retrace/tests/models/command_line.h>
#include <retrace/tests/models/zoo.h>
#include <retrace/tests/temporary_folder.h>

#include <algorithm>

namespace retrace {
namespace {

/// Each option has a flag, so that a model without this part can be trained by itself.
TEST(MemoryParts, AreChosenByTheFlagsOfTrainAndInfo) {
  const auto parameters = [](std::vector<std::string> flags) {
    std::vector<std::string> words{"info", "rmc", "--json"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Outcome outcome = run_command(words);
    EXPECT_EQ(outcome.status, 0) << outcome.messages;
    return Json::parse(outcome.results).at("parameters").get<std::int64_t>();
  };
  RunOptions run{.task = "pair-matching", .model = {.name = "rmc"}};
  EXPECT_EQ(parameters({}), model_info(run).parameters);
  run.model.parts = {.gate = MemoryGate::memory, .layer_norm = false, .attention_mlp = false};
  run.model.sizes = {.slot_size = 16, .slots = 3, .heads = 4};
  EXPECT_EQ(parameters({"--gate", "memory", "--no-layer-norm", "--no-attention-mlp", "--heads", "4", "--slots", "3",
                        "--slot-size", "16"}),
            model_info(run).parameters);
  run.model.parts = {.key_size = 5, .mlp_layers = 3, .variant = CoreVariant::blog};
  run.model.sizes = {};
  EXPECT_EQ(parameters({"--key-size", "5", "--mlp-layers", "3", "--variant", "blog"}), model_info(run).parameters);
  const Outcome without = run_command({"train", "pair-matching", "--model", "rmc", "--steps", "3", "--batch", "4",
                                       "--test-samples", "100", "--no-residual", "--quiet", "--json"});
  ASSERT_EQ(without.status, 0) << without.messages;
  const Outcome with = run_command({"train", "pair-matching", "--model", "rmc", "--steps", "3", "--batch", "4",
                                    "--test-samples", "100", "--quiet", "--json"});
  EXPECT_NE(Json::parse(without.results).at("weights_hash"), Json::parse(with.results).at("weights_hash"));
}

TEST(MemoryParts, AreStoredWithARun) {
  const TemporaryFolder folder;
  const ModelSpec rmc{.name = "rmc", .parts = {.key_size = 5, .mlp_layers = 3, .variant = CoreVariant::l0sg}};
  const RunOptions options{.task = "parity", .model = rmc, .task_options = {.length = 3}};
  const auto run = prepare(options);
  run.save_weights(folder / "weights.safetensors");
  const StoredRun stored = load_run(folder / "weights.safetensors");
  EXPECT_EQ(stored.spec.parts, options.model.parts);
  Random random(1);
  const Tensor x = run.task->sample(random, 2).x;
  EXPECT_TRUE(std::ranges::equal((*stored.model)(x).values<float>(), (*run.model)(x).values<float>()));
}

/// What the recipe fills in is what the model can have: `compare` prepares filled options again.
TEST(MemoryParts, FilledOptionsCanBePreparedAgain) {
  for (const std::string_view name : model_names()) {
    const RunOptions filled = prepare({.task = "recall", .model = {.name = std::string(name)}}).options;
    EXPECT_NO_THROW(prepare(filled)) << name;
  }
}

TEST(MemoryParts, AHiddenSizeThatTheHeadsOfAttentionDoNotDivideIsRefused) {
  for (const char* model : {"attention", "transformer"})
    EXPECT_EQ(
        message_of([&] { prepare(RunOptions{.task = "babi", .model = {.name = model, .sizes = {.hidden = 6}}}); }),
        "make_model: the 4 heads of attention do not divide a hidden size of 6; choose a multiple of 4");
}

TEST(MemoryParts, AMemorysOptionsAreRefusedWhereItHasNone) {
  const auto message = [](const RunOptions& run) { return message_of([&] { prepare(run); }); };
  EXPECT_EQ(message({.task = "babi",
                     .model = {.name = "relational-rnn", .memory = "notebook", .parts = {.gate = MemoryGate::none}}}),
            text("prepare: the model 'relational-rnn' with the memory 'notebook' has no option 'gate', which is for ",
                 "relational-rnn:cell, relational-rnn:gated, rmc, relational-memory", with_zoo(", cell-memory"),
                 "; leave it out"));
  EXPECT_EQ(message({.task = "babi", .model = {.name = "relational-rnn", .parts = {.gate = MemoryGate::memory}}}),
            "prepare: the memory of a relational-rnn has no gate 'memory'; give unit or none");
  EXPECT_EQ(message({.task = "babi", .model = {.name = "rmc", .sizes = {.heads = 3}}}),
            "prepare: 3 heads do not divide slots of 32 features; choose heads that do");
}

}  // namespace
}  // namespace retrace
