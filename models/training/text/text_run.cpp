#include <retrace/models/data/file_text.h>
#include <retrace/models/training/checkpoint.h>
#include <retrace/models/training/flops.h>
#include <retrace/models/training/result_json.h>
#include <retrace/models/training/text/text_run.h>

#include <array>

namespace retrace {
namespace {

const Recipe recipe{.batch = 32, .learning_rate = 5e-3, .steps = 2000};

TextModelOptions model_options(const RunOptions& options) {
  const TextModelOptions defaults;
  return {.model = options.model.name,
          .hidden = options.model.sizes.hidden.value_or(defaults.hidden),
          .length = options.task_options.length.value_or(defaults.length),
          .form = options.model.form,
          .memory = options.model.sizes,
          .parts = options.model.parts};
}

std::optional<std::string> name_or_null(const std::string& file) {
  return file.empty() ? std::nullopt : std::optional(file);
}

/// The options of a stored model, with the length of a segment and the dropout of this run, if they are given.
TextModelOptions from_stored(TextModelOptions stored, const RunOptions& options) {
  stored.length = options.task_options.length.value_or(stored.length);
  if (options.model.form.dropout) stored.form.dropout = options.model.form.dropout;
  return stored;
}

/// The model of RunOptions::from.
TextModel stored_model(const std::string& path) {
  const std::optional<std::string> file = stored_weights_file(path);
  if (!file)
    throw FileError(text("retrace: ", path,
                         " has neither weights.safetensors nor checkpoint.safetensors; make one by: "
                         "retrace train text --out DIR"));
  return load_text_model(*file);
}

/// Throws ValueError if the tokens that are asked for are not those of the stored model.
void check_tokens(const RunOptions& options, const TextModel& stored) {
  const TokenKind kind = stored.vocabulary.kind();
  if (options.text.tokens.value_or(kind) != kind)
    throw ValueError(text("train text: the model of ", options.from, " reads ", name_of(kind), "; leave --tokens out"));
}

/// Gives a model the weights of a stored one.
void begin_with(const TextModel& model, const TextModel& stored, const std::string& path) {
  try {
    assign(model.network, parameters(stored.network));
  } catch (const ValueError& error) {
    throw ValueError(text("train text: the learned positions of ", path, " are of segments of ", stored.options.length,
                          " tokens, not of ", model.options.length, "; leave --length out (", error.what(), ")"));
  }
}

constexpr std::array<std::string_view, 1> tasks{"text"};

constexpr std::array refusals{
    Refusal{[](const RunOptions& options) { return options.text.file.empty(); },
            "no text to train on; give --text FILE"},
    Refusal{[](const RunOptions& options) {
              return options.task_options != TaskOptions{.length = options.task_options.length};
            },
            "of the tasks' own options a text has --length alone; leave the others out"},
    Refusal{[](const RunOptions& options) { return options.fit.specialise != 0; },
            "the rows of a text have no topics, so slots cannot specialise in them; leave --specialise out"},
    Refusal{[](const RunOptions& options) { return options.model.memory != ModelSpec().memory; },
            "on a text a relational-rnn has the memory 'cell'; leave the choice out"},
    Refusal{[](const RunOptions& options) {
              const auto& [name, sizes, memory, parts, form] = options.model;
              return name != "rmc" && (sizes != SizeOptions{.hidden = sizes.hidden} || parts != MemoryParts{});
            },
            "on a text only an rmc has slots, heads and parts to choose; leave their flags out"},
};

}  // namespace

TextRun prepare_text(const RunOptions& options) {
  const DtypeScope scope(options.dtype);
  for (const std::string* file : {&options.text.file, &options.text.validation_file, &options.text.test_file})
    check_storable(*file, "train text");
  std::optional<TextModel> stored;
  if (!options.from.empty()) stored = stored_model(options.from);
  if (stored) check_tokens(options, *stored);
  RunOptions filled = options;
  filled.fit = with_recipe(options.fit, recipe);
  Random weights = stored || !options.draws ? Random::none() : Random(filled.fit.seed).stream("weights");
  TextData data = read_text(options.text, stored ? std::optional(stored->vocabulary) : std::nullopt);
  const TextModelOptions sizes = stored ? from_stored(stored->options, options) : model_options(options);
  check_length(data, *filled.fit.batch, sizes.length);
  TextModel model(sizes, data.vocabulary, weights);
  if (stored) {
    begin_with(model, *stored, options.from);
    filled.fit.initial_weights = weights_hash(model.network);
  }
  filled.model = model.options.spec();
  model.source = options.text;
  model.test_fingerprint = fingerprint(data.test());
  return {std::move(filled), std::move(data), std::move(model)};
}

RunKind text_run_kind() {
  return {.tasks = [] { return std::span<const std::string_view>(tasks); },
          .prepare = [](const RunOptions& options) -> std::unique_ptr<Run> {
            return std::make_unique<TextRun>(prepare_text(options));
          },
          .recipe = [](std::string_view) { return recipe; },
          .reads_text = true,
          .refusals = refusals};
}

void TextRun::train() {
  TextTraining training(model, data, options.fit);
  fit = retrace::fit(training);
}

LearningRateCurve TextRun::find_learning_rate() {
  TextTraining training(model, data, options.fit);
  return retrace::find_learning_rate(training);
}

std::string TextRun::test_in_words() const {
  return text(data.test().size(), " ", name_of(data.vocabulary.kind()), " of the text");
}

std::int64_t TextRun::flops_a_sample() const {
  const DtypeScope scope(options.dtype);
  const Tensor ids = zeros({1, model.options.length}, i64);
  const Tape tape;
  model.network(ids);
  return 3 * forward_flops(tape);
}

std::string TextRun::json() const {
  JsonObject object{{"task", options.task},
                    {"model", options.model.name},
                    {"text", options.text.file},
                    {"validation_text", name_or_null(options.text.validation_file)},
                    {"test_text", name_or_null(options.text.test_file)},
                    {"tokens", name_of(data.vocabulary.kind())},
                    {"vocabulary", data.vocabulary.size()},
                    {"length", model.options.length},
                    {"dtype", name_of(options.dtype)},
                    {"hidden", model.options.hidden},
                    {"slots", options.model.sizes.slots},
                    {"heads", options.model.sizes.heads}};
  object.add(to_json(model.options.form));
  if (!options.from.empty()) object.add("from", options.from);
  object.add(result_to_json(options.fit, fit, metric(), baselines()));
  object.add("parameters", count_parameters(model.network));
  object.add("weights_hash", weights_hash(model.network));
  return object.text();
}

}  // namespace retrace
