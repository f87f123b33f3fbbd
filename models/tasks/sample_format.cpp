#include <retrace/models/formats/counts.h>
#include <retrace/models/formats/json_fields.h>
#include <retrace/models/formats/json_text.h>
#include <retrace/models/tasks/sample_file.h>
#include <retrace/models/tasks/sample_format.h>
#include <retrace/models/tasks/task.h>

#include <algorithm>

namespace retrace {
namespace {

std::vector<double> numbers_in(const JsonFields& fields, const std::string& name) {
  std::vector<double> result;
  for (std::size_t i = 0; fields.has(text(name, ".", i)); ++i) result.push_back(fields.number(text(name, ".", i)));
  return result;
}

JsonText to_json(const std::optional<Normaliser>& normaliser) {
  if (!normaliser) return {};
  return JsonObject{{"shift", normaliser->shift}, {"scale", normaliser->scale}};
}

/// Reads the scale of `width` features; nothing where the file has null.
std::optional<Normaliser> normaliser_in(const JsonFields& fields, const std::string& name, std::int64_t width) {
  if (!fields.has(name + ".shift")) return std::nullopt;
  Normaliser result{.shift = numbers_in(fields, name + ".shift"), .scale = numbers_in(fields, name + ".scale")};
  if (std::ssize(result.shift) != width || std::ssize(result.scale) != width)
    throw ValueError(text(name, " has ", result.shift.size(), " shifts and ", result.scale.size(), " scales for ",
                          width, " features"));
  return result;
}

TokenKind token_kind_in(const JsonFields& fields, const std::string& name) {
  for (const TokenKind kind : {TokenKind::characters, TokenKind::words})
    if (fields.string(name) == name_of(kind)) return kind;
  throw ValueError(text(name, " is '", fields.string(name), "'; it has to be characters or words"));
}

SampleFormat text_format_in(const JsonFields& fields) {
  SampleFormat format{.steps = fields.integer_in("format.steps", 1, largest_count),
                      .words = fields.strings("format.words"),
                      .answers_each_row = true,
                      .tokens = token_kind_in(fields, "format.tokens"),
                      .test_fingerprint = fields.string("format.test_fingerprint")};
  format.outputs = std::ssize(format.words);
  return format;
}

}  // namespace

std::string SampleFormat::describe_label(std::int64_t label) const {
  return label >= 0 && label < std::ssize(words) ? words[static_cast<std::size_t>(label)] : std::to_string(label);
}

JsonObject to_json(const SampleFormat& format) {
  if (format.tokens)
    return {{"tokens", name_of(*format.tokens)},
            {"steps", format.steps},
            {"words", format.words},
            {"test_fingerprint", format.test_fingerprint}};
  JsonObject object{{"columns", format.columns},   {"sequence", format.sequence}, {"steps", format.steps},
                    {"features", format.features}, {"words", format.words},       {"targets", format.targets},
                    {"outputs", format.outputs},   {"x", to_json(format.x)},      {"y", to_json(format.y)}};
  if (!format.separator.empty()) object.add("separator", format.separator);
  if (format.different_lengths) object.add("different_lengths", true);
  if (format.answers_each_row) object.add("answers_each_row", true);
  return object;
}

std::optional<SampleFormat> sample_format_in(const JsonFields& fields) {
  const bool is_registered = std::ranges::find(task_names(), text_task) != task_names().end();
  if (!is_registered && fields.has("task") && fields.string("task") == text_task) return text_format_in(fields);
  if (!fields.has("format")) return std::nullopt;
  const auto truth = [&fields](const char* name) { return fields.has(name) && fields.truth(name); };
  SampleFormat format{.columns = fields.strings("format.columns"),
                      .sequence = fields.string("format.sequence"),
                      .separator = fields.has("format.separator") ? fields.string("format.separator") : "",
                      .steps = fields.integer_in("format.steps", 1, largest_count),
                      .different_lengths = truth("format.different_lengths"),
                      .features = fields.integer_in("format.features", 1, largest_count),
                      .words = fields.strings("format.words"),
                      .targets = fields.strings("format.targets"),
                      .outputs = fields.integer_in("format.outputs", 1, largest_count),
                      .answers_each_row = truth("format.answers_each_row")};
  format.x = normaliser_in(fields, "format.x", format.features);
  format.y = normaliser_in(fields, "format.y", format.outputs);
  return format;
}

}  // namespace retrace
