#include <retrace/models/formats/digits.h>
#include <retrace/models/training/train_command.h>

#include <algorithm>
#include <string_view>

namespace retrace {
namespace {

/// In single quotes, if a shell would not take it as it is.
std::string quoted(const std::string& argument) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=:,/@%";
  if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
  std::string result = "'";
  for (const char c : argument) result += c == '\'' ? "'\\''" : std::string(1, c);
  return result + "'";
}

std::string written(double number) { return in_all_digits(number); }
template <class T> std::string written(const T& value) { return text(value); }

/// The arguments, each after a blank.
class Arguments {
 public:
  void add(const char* flag) { text_ += text(" ", flag); }
  void add(const char* flag, const std::string& value) { text_ += text(" ", flag, " ", quoted(value)); }
  template <class T> void add_if_given(const char* flag, const std::optional<T>& value) {
    if (value) add(flag, written(*value));
  }
  template <class T> void add_if_changed(const char* flag, const T& value, const T& usual) {
    if (value != usual) add(flag, written(value));
  }
  const std::string& all() const { return text_; }

 private:
  std::string text_;
};

void add_task(Arguments& arguments, const RunOptions& options) {
  for (const TaskOptionRow& row : task_option_rows)
    if (row.is_given(options.task_options)) {
      const std::string value = row.value_of(options.task_options);
      value.empty() ? arguments.add(row.flag) : arguments.add(row.flag, value);
    }
  arguments.add_if_changed("--text", options.text.file, {});
  arguments.add_if_changed("--validation-text", options.text.validation_file, {});
  arguments.add_if_changed("--test-text", options.text.test_file, {});
  if (options.text.tokens) arguments.add("--tokens", std::string(name_of(*options.text.tokens)));
}

void add_model(Arguments& arguments, const ModelSpec& model) {
  const MemoryParts parts, &given = model.parts;
  const auto leave_out = [&](const char* flag, bool part) {
    if (!part) arguments.add(flag);
  };
  arguments.add_if_changed("--memory", memory_name(model), memory_name({.name = model.name}));
  arguments.add_if_given("--hidden", model.sizes.hidden);
  arguments.add_if_given("--slots", model.sizes.slots);
  arguments.add_if_given("--slot-size", model.sizes.slot_size);
  arguments.add_if_given("--heads", model.sizes.heads);
  arguments.add_if_changed("--gate", name_of(given.gate), name_of(parts.gate));
  leave_out("--no-residual", given.residual);
  leave_out("--no-layer-norm", given.layer_norm);
  leave_out("--no-attention-mlp", given.attention_mlp);
  arguments.add_if_changed("--key-size", given.key_size, parts.key_size);
  arguments.add_if_changed("--mlp-layers", given.mlp_layers, parts.mlp_layers);
  arguments.add_if_changed("--variant", name_of(given.variant), name_of(parts.variant));
  arguments.add_if_given("--layers", model.form.layers);
  arguments.add_if_given("--dropout", model.form.dropout);
  if (model.form.bidirectional) arguments.add("--bidirectional");
  if (model.form.positions) arguments.add("--positions", std::string(name_of(*model.form.positions)));
  if (model.form.causal) arguments.add(*model.form.causal ? "--causal" : "--no-causal");
  arguments.add_if_given("--feed-forward", model.form.feed_forward);
}

void add_fit(Arguments& arguments, const FitOptions& fit) {
  const FitOptions usual;
  arguments.add_if_given("--learning-rate", fit.learning_rate);
  arguments.add_if_given("--schedule", fit.schedule);
  if (fit.steps != no_limit) arguments.add_if_given("--steps", fit.steps);
  arguments.add_if_given("--batch", fit.batch);
  arguments.add_if_changed("--accumulate", fit.accumulate, usual.accumulate);
  arguments.add_if_given("--optimizer", fit.optimizer);
  arguments.add_if_given("--b2", fit.b2);
  arguments.add_if_changed("--weight-decay", fit.weight_decay, usual.weight_decay);
  arguments.add_if_changed("--warm-up", fit.warm_up, usual.warm_up);
  arguments.add_if_changed("--average", fit.average, usual.average);
  arguments.add_if_changed("--specialise", fit.specialise, usual.specialise);
  arguments.add_if_changed("--clip", fit.clip, usual.clip);
  if (!fit.curriculum) arguments.add("--no-curriculum");
  arguments.add_if_changed("--minutes", fit.minutes, usual.minutes);
}

}  // namespace

std::string train_command(const RunOptions& options) {
  Arguments arguments;
  add_task(arguments, options);
  add_model(arguments, options.model);
  add_fit(arguments, options.fit);
  arguments.add_if_changed("--dtype", name_of(options.dtype), name_of(f32));
  return text("retrace train ", options.task, " --model ", options.model.name, arguments.all());
}

}  // namespace retrace
