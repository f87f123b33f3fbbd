#include <retrace/models/cli/options.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

namespace retrace {

std::string joined(std::span<const std::string_view> names) {
  std::string result;
  for (const std::string_view name : names) result += text(result.empty() ? "" : ", ", name);
  return result;
}

void add_training_options(CLI::App& command, FitOptions& fit) {
  const auto positive = [&](const char* name, auto& value, const char* description) {
    command.add_option(name, value, description)->check(CLI::PositiveNumber);
  };
  const auto shown = [&](const char* name, auto& value, const char* description) {
    return command.add_option(name, value, description)->capture_default_str();
  };
  positive("--steps", fit.steps, "updates of the weights (default: the task's, or as many as --minutes allows)");
  positive("--batch", fit.batch, "samples of a batch (default: the task's)");
  positive("--learning-rate", fit.learning_rate, "at its highest (default: the task's)");
  shown("--optimizer", fit.optimizer, "adam, adamw, rmsprop or sgd (with momentum)");
  command.add_option("--schedule", fit.schedule, "of the learning rate: cosine, linear, trapezoid, steps or constant");
  shown("--b2", fit.b2, "of adam and adamw: how long squares of gradients are remembered");
  shown("--warm-up", fit.warm_up, "the part of the steps in which the learning rate rises");
  shown("--weight-decay", fit.weight_decay, "of adam, adamw and sgd")->check(CLI::NonNegativeNumber);
  shown("--clip", fit.clip, "the most that the norm of all gradients may be");
  shown("--accumulate", fit.accumulate, "batches of an update");
  shown("--validate-every", fit.validate_every, "steps from one validation to the next");
  shown("--test-samples", fit.test_samples, "of the test at the end")->check(CLI::PositiveNumber);
  positive("--patience", fit.patience, "stop after so many validations without a lower loss");
  positive("--minutes", fit.minutes, "stop after so many; the learning rate falls with the time");
  command.add_option("--until", fit.until, "stop when the validation metric is as good as this");
  command.add_flag_callback(
      "--no-curriculum", [&fit] { fit.curriculum = false; }, "train on the full task from the first step on");
}

void add_task_options(CLI::App& command, TaskOptions& options) {
  command.add_option("--length", options.length, "of a sequence, a word, a number or a segment (default: the task's)")
      ->check(CLI::PositiveNumber);
  command.add_option("--vectors", options.vectors, "nth-farthest: how many (default: 8)")->check(CLI::PositiveNumber);
  command.add_option("--dims", options.dims, "nth-farthest: of a vector (default: 16)")->check(CLI::PositiveNumber);
  command.add_option("--program", options.program, "execute: addition, control, full, copy, reverse or double");
  command.add_option("--nesting", options.nesting, "execute: ops of a program (default: 2)")
      ->check(CLI::PositiveNumber);
  command.add_flag("--held-only", options.held_only, "babi: only stories in which the ball is held");
}

void add_memory_options(CLI::App& command, RunOptions& run) {
  MemoryParts& parts = run.parts;
  command.add_option("--memory", run.memory, "beside a relational-rnn: cell, gated or notebook")->capture_default_str();
  command.add_option("--slots", run.slots, "of the memory (default: the task's)")->check(CLI::PositiveNumber);
  command.add_option("--slot-size", run.slot_size, "features of a slot (default: the task's)")
      ->check(CLI::PositiveNumber);
  command.add_option("--heads", run.heads, "of the memory's attention (default: the task's)")
      ->check(CLI::PositiveNumber);
  const auto choose_gate = [&parts](const std::string& name) {
    parts.gate = static_cast<MemoryGate>(std::ranges::find(gate_names(), name) - gate_names().begin());
  };
  const std::vector<std::string> gates(gate_names().begin(), gate_names().end());
  command
      .add_option_function<std::string>("--gate", choose_gate,
                                        "of the memory: for each element (unit, the default), for each slot, or none")
      ->check(CLI::IsMember(gates));
  const auto leave_out = [&command](const char* name, bool& part, const char* description) {
    command.add_flag_callback(
        name, [&part] { part = false; }, description);
  };
  leave_out("--no-residual", parts.residual, "rmc: nothing is added to what attention and MLP make");
  leave_out("--no-layer-norm", parts.layer_norm, "rmc: without layer norms");
  leave_out("--no-attention-mlp", parts.attention_mlp, "rmc: without the MLP after the attention");
}

}  // namespace retrace
