#include <retrace/models/reports/evaluation/text_report.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace retrace {
namespace {

constexpr std::size_t shortest_part = 64, most_parts = 100;  // for the interval
constexpr std::size_t characters_of_a_passage = 64, words_of_a_passage = 16;

/// The text of the training. If it has changed since, so that the vocabulary lacks a character, in a vocabulary of its
/// own: test_text() then says so.
TextData own_text(const TextModel& model) {
  try {
    return read_text(model.source, model.vocabulary);
  } catch (const FileError&) {
    return read_text(model.source);
  }
}

/// The kind of a token, given the one before it.
std::string_view kind_of(TokenKind kind, std::string_view token, std::string_view before) {
  const auto is_letter = [](std::string_view character) {
    const auto c = static_cast<unsigned char>(character.front());
    return c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (token == "\n") return "end of a line";
  if (kind == TokenKind::words) return token == unknown_word ? "unknown word" : "known word";
  if (token == " " || token == "\t") return "space";
  if (is_letter(token)) return is_letter(before) ? "letter within a word" : "first letter of a word";
  return token.front() >= '0' && token.front() <= '9' ? "digit" : "other character";
}

/// The metric over the tokens, of which those with `counts` count.
Estimate estimate_of(TokenKind kind, const std::vector<double>& losses, const auto& counts) {
  const std::size_t parts = std::clamp<std::size_t>(losses.size() / shortest_part, 1, most_parts);
  Scores scores;
  for (std::size_t part = 0; part < parts; ++part) {
    double sum = 0;
    std::int64_t count = 0;
    for (std::size_t k = part * losses.size() / parts; k < (part + 1) * losses.size() / parts; ++k)
      if (counts(k)) sum += losses[k], ++count;
    scores.add_sample(sum, count);
  }
  Estimate estimate = scores.estimate(TaskKind::regression);
  for (double* number : {&estimate.value, &estimate.low, &estimate.high}) *number = metric_of(kind, *number);
  return estimate;
}

/// In bits per token, from the means over consecutive parts.
Summary difference_of(const std::vector<double>& losses, const std::vector<double>& others) {
  const std::size_t parts = std::clamp<std::size_t>(losses.size() / shortest_part, 1, most_parts);
  std::vector<double> differences;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = part * losses.size() / parts, end = (part + 1) * losses.size() / parts;
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += losses[k] - others[k];
    differences.push_back(sum / static_cast<double>(end - begin) / std::numbers::ln2);
  }
  return summarise(differences);
}

CategoryTable categories_of(const Vocabulary& vocabulary, TokenIds ids, const std::vector<double>& losses) {
  const auto token = [&](std::size_t k) {
    return std::string_view(vocabulary.tokens()[static_cast<std::size_t>(ids[k])]);
  };
  std::vector<std::string_view> kinds;
  for (std::size_t k = 0; k < losses.size(); ++k) kinds.push_back(kind_of(vocabulary.kind(), token(k + 1), token(k)));
  CategoryTable table{.name = "to predict", .rows = {}};
  for (const std::string_view kind : {"first letter of a word", "letter within a word", "space", "digit",
                                      "other character", "known word", "unknown word", "end of a line"})
    if (std::ranges::find(kinds, kind) != kinds.end())
      table.rows.push_back(
          {std::string(kind), estimate_of(vocabulary.kind(), losses, [&](std::size_t k) { return kinds[k] == kind; })});
  return table;
}

std::vector<TextPassage> worst_passages(const Vocabulary& vocabulary, const TestText& test,
                                        const std::vector<double>& losses, std::int64_t count) {
  const std::size_t size = vocabulary.kind() == TokenKind::words ? words_of_a_passage : characters_of_a_passage;
  const std::optional<std::int32_t> line_end = vocabulary.find("\n");
  std::vector<TextPassage> passages;
  std::int64_t line = test.first_line;
  for (std::size_t begin = 0; begin < losses.size(); begin += size) {
    const std::size_t end = std::min(begin + size, losses.size());
    if (line_end && test.ids[begin] == *line_end) ++line;
    const double loss = std::accumulate(losses.begin() + static_cast<std::ptrdiff_t>(begin),
                                        losses.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
                        static_cast<double>(end - begin);
    const TokenIds tokens = TokenIds(test.ids).subspan(begin + 1, end - begin);
    passages.push_back({line, vocabulary.decode(tokens), metric_of(vocabulary.kind(), loss)});
    if (line_end) line += std::count(tokens.begin(), tokens.end() - 1, *line_end);
  }
  std::stable_sort(passages.begin(), passages.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
  passages.resize(std::min(passages.size(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0))));
  return passages;
}

/// The text, and which of it is read.
TestText unchecked_text(const TextModel& model, const std::string& path, const TestTextOptions& options) {
  const std::string& own = options.file.empty() ? model.source.test_file : options.file;
  if (!own.empty()) return {own, read_tokens(own, model.vocabulary)};
  if (model.source.file.empty())
    throw ValueError(text(options.command, ": ", path, " does not say on which text it was trained; ", options.remedy));
  const TextData data = own_text(model);
  const TokenIds ids = data.test(), before = TokenIds(data.ids).first(data.ids.size() - ids.size());
  const std::optional<std::int32_t> line_end = data.vocabulary.find("\n");
  const std::int64_t lines = line_end ? std::count(before.begin(), before.end(), *line_end) : 0;
  return {model.source.file, {ids.begin(), ids.end()}, 1 + lines};
}

}  // namespace

TestText test_text(const TextModel& model, const std::string& path, const TestTextOptions& options) {
  TestText test = unchecked_text(model, path, options);
  test.as_in_training = fingerprint(test.ids) == model.test_fingerprint;
  if (options.file.empty() && !test.as_in_training && !model.test_fingerprint.empty())
    throw FileError(text(options.command, ": ", test.file, " has changed since the training; ", options.remedy));
  if (test.ids.size() < 2)
    throw ValueError(text(options.command, ": ", test.file, " has ", test.ids.size(), " ",
                          name_of(model.vocabulary.kind()), " to test on; at least 2 are needed"));
  return test;
}

TextReport make_text_report(const std::string& path, const TextReportOptions& options) {
  const TextModel model = load_text_model(path);
  const DtypeScope scope(parameters(model.network).front().tensor.dtype());
  const TestText test = test_text(model, path, {.file = options.test_file});
  const TokenKind kind = model.vocabulary.kind();
  TextReport report{.path = path,
                    .model = model.options.model,
                    .file = test.file,
                    .step = model.step,
                    .as_in_training = test.as_in_training,
                    .kind = kind,
                    .parameters = count_parameters(model.network),
                    .tokens = static_cast<std::int64_t>(test.ids.size()) - 1,
                    .metric = {},
                    .chance = metric_of(kind, std::log(static_cast<double>(model.vocabulary.size()))),
                    .categories = {},
                    .keep_learning = options.keep_learning};
  const std::vector<double> frozen =
      token_losses(model, test.ids, options.keep_learning ? 1 : streams_of_test(test.ids));
  const auto every_token = [](std::size_t) { return true; };
  report.metric = estimate_of(kind, frozen, every_token);
  report.categories = categories_of(model.vocabulary, test.ids, frozen);
  report.passages = worst_passages(model.vocabulary, test, frozen, options.passages);
  if (!options.keep_learning) return report;
  const std::vector<double> learning = losses_while_learning(model, test.ids, *options.keep_learning);
  report.keeps_learning = estimate_of(kind, learning, every_token);
  report.difference = difference_of(learning, frozen);
  return report;
}

}  // namespace retrace
