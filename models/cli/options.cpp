#include <retrace/models/cli/number_options.h>
#include <retrace/models/cli/options.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

namespace retrace {

void add_training_options(CLI::App& command, FitOptions& fit) {
  const auto count = [&](const char* name, auto& value, const char* description) {
    return add_count(command, name, value, description);
  };
  const auto number = [&](const char* name, auto& value, const char* description, NumberRange range) {
    return add_number(command, name, value, description, range);
  };
  const auto shown = [](CLI::Option* option, auto value) { option->default_str(text(value)); };
  count("--steps", fit.steps, "training steps (default: the task's, or as many as --minutes allows)");
  count("--batch", fit.batch, "samples per batch (default: the task's)");
  number("--learning-rate", fit.learning_rate, "the maximum (default: the task's)", number_above_0);
  command.add_option("--optimizer", fit.optimizer,
                     "adam, adamw, lion, muon, rmsprop or sgd with momentum (default: the task's, mostly adam)");
  command.add_option("--schedule", fit.schedule, "of the learning rate: cosine, linear, trapezoid, steps or constant");
  number("--b2", fit.b2, "of adam, adamw and muon: decay of the mean squared gradients (default: the task's)",
         {0, 1, NumberRange::Open::max});
  shown(number("--warm-up", fit.warm_up, "fraction of the steps in which the learning rate rises", {0, 1}),
        fit.warm_up);
  shown(number("--weight-decay", fit.weight_decay, "of adam, adamw, lion, muon and sgd", number_of_0_or_more),
        fit.weight_decay);
  number("--average", fit.average, "validate, test and store a moving average of the weights, of this decay",
         {0, 1, NumberRange::Open::max});
  shown(number("--specialise", fit.specialise,
               "weight of a loss by which each slot of a memory keeps to topics of its own", number_of_0_or_more),
        fit.specialise);
  shown(number("--clip", fit.clip, "limit of the gradient norm", number_above_0), fit.clip);
  shown(count("--accumulate", fit.accumulate, "batches per update"), fit.accumulate);
  shown(count("--validate-every", fit.validate_every, "steps from one validation to the next"), fit.validate_every);
  shown(count("--test-samples", fit.test_samples, "of the test at the end"), fit.test_samples);
  count("--patience", fit.patience, "stop after this number of validations without a lower loss");
  number("--minutes", fit.minutes, "stop after this time; the learning rate falls with it", number_above_0);
  number("--until", fit.until, "stop when the validation metric is as good as this", any_number);
  command.add_flag_callback(
      "--no-curriculum", [&fit] { fit.curriculum = false; }, "train on the full task from the first step on");
}

const CLI::Validator not_empty([](const std::string& word) { return word.empty() ? "it is empty" : ""; }, "");

void add_threads_option(CLI::App& command, CommonFlags& flags) {
  constexpr int max_threads = 1024;
  add_count(command, "--threads", flags.threads, "without effect on the results (default: every core)", max_threads);
}

CommonOptions add_common_flags(CLI::App& command, CommonFlags& flags, const CommonDescriptions& descriptions,
                               CLI::Option* out) {
  CommonOptions options{.out = out};
  if (descriptions.out != nullptr)
    options.out = command.add_option("--out", flags.out, descriptions.out)->check(not_empty);
  CLI::Option* resume = nullptr;
  if (descriptions.resume != nullptr)
    resume = command.add_flag("--resume", flags.resume, descriptions.resume)->needs(options.out);
  if (descriptions.force != nullptr)
    options.force = command.add_flag("--force", flags.force, descriptions.force)->needs(options.out);
  if (resume != nullptr && options.force != nullptr) resume->excludes(options.force);
  if (descriptions.json != nullptr) options.json = command.add_flag("--json", flags.json, descriptions.json);
  if (descriptions.quiet) command.add_flag("--quiet", flags.quiet, "show no progress");
  return options;
}

CLI::Option* add_expression_options(CLI::App& command, ExpressionFlags& flags, const char* description) {
  CLI::Option* expression = command.add_option("--expr", flags.text, description)->check(not_empty);
  command
      .add_option("--input", flags.inputs,
                  "of the expression, once for each: q=4x8 (random numbers), x=[[1,2],[3,4]], ids=[0,2]i64 (integers, "
                  "which stay constant), q=FILE.npy")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->needs(expression);
  return expression;
}

void add_task_options(CLI::App& command, TaskOptions& options) {
  for (const TaskOptionRow& row : task_option_rows) {
    const std::string description(row.description);
    const auto add = [&]<class T>(T TaskOptions::*option) {
      if constexpr (std::same_as<T, std::optional<std::int64_t>>)
        add_count(command, row.flag, options.*option, description);
      else if constexpr (std::same_as<T, bool>)
        command.add_flag(row.flag, options.*option, description);
      else
        command.add_option(row.flag, options.*option, description);
    };
    std::visit(add, row.member);
  }
}

void add_task_sizes(CLI::App& command, TaskOptions& options) {
  for (const TaskOptionRow& row : task_option_rows)
    if (const auto* size = std::get_if<std::optional<std::int64_t> TaskOptions::*>(&row.member))
      if (!row.description.starts_with("data:"))
        add_count(command, row.flag, options.**size, std::string(row.description));
}

void add_memory_options(CLI::App& command, ModelSpec& model) {
  MemoryParts& parts = model.parts;
  command.add_option("--memory", model.memory, "of a relational-rnn: cell, gated or notebook")->capture_default_str();
  add_count(command, "--slots", model.sizes.slots, "of the memory (default: the task's or the model's)");
  add_count(command, "--slot-size", model.sizes.slot_size, "features of a slot (default: the task's)");
  add_count(command, "--heads", model.sizes.heads,
            "of the memory's attention, or that read (default: the task's or the model's)");
  const auto choose_gate = [&parts](const std::string& name) {
    parts.gate = static_cast<MemoryGate>(std::ranges::find(gate_names(), name) - gate_names().begin());
  };
  const std::vector<std::string> gates(gate_names().begin(), gate_names().end());
  command
      .add_option_function<std::string>("--gate", choose_gate,
                                        "of the memory: per element (unit, the default), per slot (memory), or none")
      ->check(CLI::IsMember(gates));
  const auto leave_out = [&command](const char* name, bool& part, const char* description) {
    command.add_flag_callback(
        name, [&part] { part = false; }, description);
  };
  leave_out("--no-residual", parts.residual, "rmc: without residual connections");
  leave_out("--no-layer-norm", parts.layer_norm, "rmc: without layer norms");
  leave_out("--no-attention-mlp", parts.attention_mlp, "rmc: without the MLP after the attention");
  add_count(command, "--key-size", parts.key_size,
            "rmc: features of queries and keys in a head (default: as of values)");
  add_count(command, "--mlp-layers", parts.mlp_layers, "rmc: of the MLP after the attention", 1, most_mlp_layers)
      ->default_str(std::to_string(parts.mlp_layers));
  const auto choose_variant = [&parts](const std::string& name) {
    parts.variant = static_cast<CoreVariant>(std::ranges::find(variant_names(), name) - variant_names().begin());
  };
  const std::vector<std::string> variants(variant_names().begin(), variant_names().end());
  command
      .add_option_function<std::string>(
          "--variant", choose_variant,
          "rmc: as its authors compute it (the default), or a published implementation that differs from theirs")
      ->check(CLI::IsMember(variants));
}

void add_form_options(CLI::App& command, ModelForm& form) {
  add_count(
      command, "--layers", form.layers,
      "one upon another, of lstm, gru, rnn, attention, transformer, delta-net and mlstm; of an rmc, blocks of a step "
      "(default: the model's)",
      most_layers);
  add_number(command, "--dropout", form.dropout, "probability to drop a value between and after layers, in training",
             {0, 1, NumberRange::Open::max})
      ->default_str("0");
  command.add_flag("--bidirectional", form.bidirectional,
                   "lstm, gru, rnn: each layer also reads from the last row to the first");
  const auto choose = [&form](const std::string& name) { form.positions = positions_named("--positions", name); };
  const std::vector<std::string> names(position_names().begin(), position_names().end());
  command
      .add_option_function<std::string>(
          "--positions", choose, text("attention, transformer: ", joined(position_names()), " (default: learned)"))
      ->check(CLI::IsMember(names));
  CLI::Option* causal = command.add_flag_callback(
      "--causal", [&form] { form.causal = true; },
      "attention, transformer: each row sees only itself and the rows before it");
  command
      .add_flag_callback(
          "--no-causal", [&form] { form.causal = false; },
          "attention, transformer: each row sees all rows (the default, except on parity; not for text)")
      ->excludes(causal);
  add_count(command, "--feed-forward", form.feed_forward,
            "attention, transformer: features of the MLP in each layer (default: 2 and 4 times --hidden); "
            "delta-net, mlstm: of a gated MLP behind each layer (default: no MLP)");
}

}  // namespace retrace
