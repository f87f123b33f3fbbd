#include <gtest/gtest.h>
#include <retrace/models/training/run_options.h>

#include <string>

namespace retrace {
namespace {

TEST(TrainCommand, SaysWhatIsGivenAndNothingElse) {
  RunOptions options{.task = "babi", .model = {.name = "lstm"}};
  EXPECT_EQ(train_command(options), "retrace train babi --model lstm");
  options.task_options = {.held_only = true, .facts = 7};
  options.model.sizes.hidden = 48;
  options.model.form = {.layers = 2, .dropout = 0.25, .bidirectional = true};
  options.fit = {
      .steps = 300, .batch = 16, .optimizer = "lion", .learning_rate = 2e-3, .average = 0.99, .specialise = 3};
  options.dtype = f64;
  EXPECT_EQ(
      train_command(options),
      "retrace train babi --model lstm --held-only --facts 7 --hidden 48 --layers 2 --dropout 0.25 "
      "--bidirectional --learning-rate 0.002 --steps 300 --batch 16 --optimizer lion --average 0.99 --specialise 3 "
      "--dtype f64");
}

TEST(TrainCommand, SaysNumbersInAllTheirDigits) {
  RunOptions options{.task = "babi", .model = {.name = "lstm"}};
  options.fit = {.learning_rate = 1.0 / 3, .warm_up = 0.0123456789};
  EXPECT_EQ(train_command(options),
            "retrace train babi --model lstm --learning-rate 0.3333333333333333 --warm-up 0.0123456789");
}

TEST(TrainCommand, SaysEveryPartOfAMemory) {
  RunOptions options{.task = "recall", .model = {.name = "rmc", .sizes = {.slot_size = 32, .slots = 2, .heads = 4}}};
  options.model.parts = {.gate = MemoryGate::memory,
                         .residual = false,
                         .layer_norm = false,
                         .attention_mlp = false,
                         .key_size = 5,
                         .mlp_layers = 3,
                         .variant = CoreVariant::blog};
  EXPECT_EQ(train_command(options),
            "retrace train recall --model rmc --heads 4 --slots 2 --slot-size 32 --gate memory --no-residual "
            "--no-layer-norm --no-attention-mlp --key-size 5 --mlp-layers 3 --variant blog");
  EXPECT_EQ(train_command({.task = "recall", .model = {.name = "relational-rnn", .memory = "gated"}}),
            "retrace train recall --model relational-rnn --memory gated");
}

TEST(TrainCommand, SaysWhatARowOfAttentionSees) {
  RunOptions options{.task = "parity", .model = {.name = "attention"}};
  options.model.form = {.positions = RowPositions::alibi, .causal = true};
  EXPECT_EQ(train_command(options), "retrace train parity --model attention --positions alibi --causal");
  options.model.form = {.causal = false};
  EXPECT_EQ(train_command(options), "retrace train parity --model attention --no-causal");
}

TEST(TrainCommand, SaysTheFeedForwardPart) {
  const RunOptions options{.task = "parity", .model = {.name = "transformer", .form = {.feed_forward = 96}}};
  EXPECT_EQ(train_command(options), "retrace train parity --model transformer --feed-forward 96");
}

TEST(TrainCommand, QuotesWhatAShellWouldTakeApart) {
  RunOptions options{.task = "text", .model = {.name = "gru"}, .task_options = {.text = "it's here.txt"}};
  options.task_options.tokens = TokenKind::words;
  EXPECT_EQ(train_command(options), "retrace train text --model gru --text 'it'\\''s here.txt' --tokens words");
}

}  // namespace
}  // namespace retrace
