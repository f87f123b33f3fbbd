// The tables of options: a flag, a struct, a file, words and a command line all say the same of each row.
#include <gtest/gtest.h>
#include <retrace/models/cli/options.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/networks/model_options.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/models/training/run_options.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/models/zoo.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace retrace {
namespace {

/// A value that is not the default.
template <class Options> OptionValue another_value(const OptionRow<Options>& row) {
  const std::optional<OptionValue> usual = row.value(Options());
  if (row.kind == OptionKind::truth) return usual ? !std::get<bool>(*usual) : true;
  if (row.kind == OptionKind::count) return std::int64_t{7};
  if (row.kind == OptionKind::number) return 0.1234567890123;
  return row.rules.words == nullptr ? "it's here" : std::string(row.rules.words().back());
}

/// What the flags of a table make of a command line.
template <class Options> Options parsed(OptionRows<Options> rows, const std::string& line) {
  Options options;
  CLI::App command;
  add_options(command, rows, options);
  command.parse(line);
  return options;
}

/// Quotes of a shell as the parser of a line takes them.
std::string without_shell_quotes(std::string line) {
  for (std::size_t at = 0; (at = line.find("'it'\\''s here'", at)) != std::string::npos;)
    line.replace(at, 14, "\"it's here\"");
  return line;
}

template <class Options> void expect_the_same_everywhere(OptionRows<Options> rows) {
  std::set<std::string> names;
  for (const OptionRow<Options>& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.key()).second);
    EXPECT_FALSE(row.help.empty() && row.rules.no.empty()) << "it has no flag";
    Options options;
    EXPECT_FALSE(row.is_given(options));
    const OptionValue value = another_value(row);
    row.set(options, value);
    ASSERT_TRUE(row.is_given(options));
    EXPECT_EQ(row.value(options), value);
    for (const OptionRow<Options>& other : rows) EXPECT_EQ(other.is_given(options), &other == &row) << other.name;
    EXPECT_NO_THROW(check_values("test", given_options(rows, options)));

    const JsonFields file("a test", JsonObject{{"of", to_json(given_options(rows, options))}}.text());
    const Options read = options_in(rows, file, "of");
    EXPECT_EQ(row.value(read), value);

    const std::string line = as_flags(given_options(rows, read));
    const Options again = parsed(rows, without_shell_quotes(line.substr(1)));
    EXPECT_EQ(row.value(again), value) << line;
    EXPECT_EQ(as_flags(given_options(rows, again)), line);
    EXPECT_NE(
        in_words(given_options(rows, again)).find(row.kind == OptionKind::truth ? row.name.substr(0, 4) : row.name),
        std::string::npos);

    row.reset(options);
    EXPECT_FALSE(row.is_given(options));
    EXPECT_EQ(as_flags(given_options(rows, options)), "");
    EXPECT_EQ(to_json(given_options(rows, options)).text(), "{}");
  }
}

TEST(OptionTables, SayTheSameAsAFlagInAFileAndOnACommandLine) {
  expect_the_same_everywhere(task_option_rows());
  expect_the_same_everywhere(model_option_rows());
  expect_the_same_everywhere(fit_option_rows());
}

template <class Options> void expect_refused_out_of_range(OptionRows<Options> rows) {
  for (const OptionRow<Options>& row : rows) {
    if (row.kind != OptionKind::count && row.kind != OptionKind::number) continue;
    Options options;
    row.set(options, row.kind == OptionKind::count ? OptionValue(std::int64_t{-1}) : OptionValue(std::nan("")));
    const std::string message = message_of<ValueError>([&] { check_values("test", given_options(rows, options)); });
    EXPECT_EQ(message.find("test: " + row.key() + " is "), 0u) << message;
    EXPECT_THROW(parsed(rows, text("--", row.name, row.kind == OptionKind::count ? " -1" : " nan")),
                 CLI::ValidationError)
        << row.name;
    const std::string json = text(R"({"of":{")", row.key(), R"(":-1e300}})");
    if (row.rules.range.min < 0) continue;
    EXPECT_THROW(options_in(rows, JsonFields("a test", json), "of"), ValueError) << row.name;
  }
}

TEST(OptionTables, RefuseANumberOutOfRangeWhereverItComesFrom) {
  expect_refused_out_of_range(task_option_rows());
  expect_refused_out_of_range(model_option_rows());
  expect_refused_out_of_range(fit_option_rows());
}

/// Does not compile if a member is added: name it here, and give it a row.
TEST(OptionTables, HaveARowForEachMember) {
  [[maybe_unused]] const auto& [length, vectors, dims, program, nesting, held_only, data, label, target, sequence,
                                features, ignore, separator, file, validation, test, tokens, objects, moves, facts,
                                nodes, edges, vocabulary, keys, values, distractors, pairs, kind] = TaskOptions();
  EXPECT_EQ(task_option_rows().size(), 28u);
  [[maybe_unused]] const auto& [name, sizes, memory, parts, form] = ModelSpec();
  [[maybe_unused]] const auto& [hidden, slot_size, slots, heads] = sizes;
  [[maybe_unused]] const auto& [gate, residual, layer_norm, attention_mlp, key_size, mlp_layers, variant] = parts;
  [[maybe_unused]] const auto& [layers, dropout, bidirectional, positions, causal, feed_forward] = form;
  EXPECT_EQ(model_option_rows().size(), 4u + 1 + 7 + 6);
}

/// The names in "which is for lstm, rmc; leave it out", given what stands before and after them.
std::set<std::string, std::less<>> named_in(const std::string& message, const std::string& before,
                                            const std::string& after) {
  const std::size_t mark = message.find(before), begin = mark + before.size();
  EXPECT_TRUE(mark != message.npos && message.ends_with(after)) << message << "\nhas to have " << before;
  std::istringstream list(message.substr(begin, message.size() - after.size() - begin));
  std::set<std::string, std::less<>> names;
  for (std::string name; std::getline(list >> std::ws, name, ',');) names.insert(name);
  return names;
}

/// All models, with each of their memories if they have several.
std::vector<ModelSpec> models_and_memories() {
  std::vector<ModelSpec> models;
  for (const std::string_view name : model_names()) {
    const std::optional<ModelChoices> choices = choices_of(name);
    if (!choices) continue;
    models.push_back({.name = std::string(name)});
    for (std::size_t k = 1; k < choices->memories.size(); ++k) {
      models.push_back(models.back());
      models.back().memory = choices->memories[k].name;
    }
  }
  return models;
}

void expect_names_of_those_with(const OptionRow<ModelSpec>& row, const std::string& message, const std::string& none) {
  const auto names = named_in(message, text(none, row.name, "', which is for "), "; leave it out");
  EXPECT_FALSE(names.empty()) << message;
  for (const ModelSpec& model : models_and_memories())
    EXPECT_EQ(names.contains(model.name) || names.contains(model.name + ":" + model.memory),
              has_option(model, row.name))
        << model.name << " " << model.memory << ": " << message;
}

TEST(OptionTables, AModelRefusesAnOptionThatItDoesNotHaveAndNamesThoseThatHaveIt) {
  int refused = 0;
  for (const ModelSpec& spec : models_and_memories())
    for (const OptionRow<ModelSpec>& row : model_option_rows()) {
      if (has_option(spec, row.name)) continue;
      ModelSpec with = spec;
      row.set(with, another_value(row));
      const auto one = message_of<ValueError>([&] { check_model_options("prepare", with); });
      const auto some = message_of<ValueError>([&] { check_options_of_some("prepare", {{spec}}, with); });
      EXPECT_TRUE(one.starts_with("prepare: the model '" + spec.name + "'")) << one;
      expect_names_of_those_with(row, one, " has no option '");
      expect_names_of_those_with(row, some, "prepare: none of the models has the option '");
      EXPECT_FALSE(row.is_given(without_missing_options(with))) << one;
      ++refused;
    }
  EXPECT_GT(refused, has_zoo() ? 100 : 90);
}

TEST(OptionTables, ATaskRefusesAnOptionThatItDoesNotHaveAndNamesThoseThatItHas) {
  for (const std::string_view task : task_names())
    for (const OptionRow<TaskOptions>& row : task_option_rows()) {
      if (has_option(task, row.name)) continue;
      TaskOptions options;
      row.set(options, another_value(row));
      const auto names = named_in(message_of<ValueError>([&] { make_task(task, options); }),
                                  text("make_task: the task '", task, "' has no option '", row.name, "' (it has: "),
                                  "); leave it out");
      for (const OptionRow<TaskOptions>& other : task_option_rows())
        EXPECT_EQ(names.contains(other.name), has_option(task, other.name)) << task << ", " << other.name;
    }
  EXPECT_TRUE(has_option("babi", "facts"));
  EXPECT_FALSE(has_option("babi", "fact")) << "a part of a name";
  EXPECT_FALSE(has_option("babi", "held"));
}

}  // namespace
}  // namespace retrace
