#include <retrace/models/reports/evaluation/text_test.h>
#include <retrace/models/tasks/text/streams.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace retrace {
namespace {

constexpr std::size_t shortest_part = 64, most_parts = 100;  // for the interval
constexpr std::size_t characters_of_a_passage = 64, words_of_a_passage = 16;

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
Estimate estimate_of(Metric metric, const std::vector<double>& losses, const auto& counts) {
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
  for (double* number : {&estimate.value, &estimate.low, &estimate.high}) *number = metric_of(metric, *number);
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

CategoryTable categories_of(const Task& task, TokenIds ids, const std::vector<double>& losses) {
  const Vocabulary& vocabulary = task.text_data()->vocabulary;
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
          {std::string(kind), estimate_of(task.metric(), losses, [&](std::size_t k) { return kinds[k] == kind; })});
  return table;
}

/// The line of the file in which the part for the test begins.
std::int64_t first_line(const TextData& data) {
  const std::optional<std::int32_t> line_end = data.vocabulary.find("\n");
  if (data.own_test || !line_end) return 1;
  return 1 + std::count(data.ids.begin(), data.ids.end() - std::ssize(data.test()), *line_end);
}

std::vector<TextPassage> worst_passages(const Task& task, const std::vector<double>& losses, std::int64_t count) {
  const TextData& data = *task.text_data();
  const Vocabulary& vocabulary = data.vocabulary;
  const TokenIds ids = data.test();
  const std::size_t size = vocabulary.kind() == TokenKind::words ? words_of_a_passage : characters_of_a_passage;
  const std::optional<std::int32_t> line_end = vocabulary.find("\n");
  std::vector<TextPassage> passages;
  std::int64_t line = first_line(data);
  for (std::size_t begin = 0; begin < losses.size(); begin += size) {
    const std::size_t end = std::min(begin + size, losses.size());
    if (line_end && ids[begin] == *line_end) ++line;
    const double loss = std::accumulate(losses.begin() + static_cast<std::ptrdiff_t>(begin),
                                        losses.begin() + static_cast<std::ptrdiff_t>(end), 0.0) /
                        static_cast<double>(end - begin);
    const TokenIds tokens = ids.subspan(begin + 1, end - begin);
    passages.push_back({line, vocabulary.decode(tokens), metric_of(task.metric(), loss)});
    if (line_end) line += std::count(tokens.begin(), tokens.end() - 1, *line_end);
  }
  std::stable_sort(passages.begin(), passages.end(), [](const auto& a, const auto& b) { return a.value > b.value; });
  passages.resize(std::min(passages.size(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0))));
  return passages;
}

/// -ln p of every token but the first, in their order, with the mean and the metric.
struct TokenLosses {
  std::vector<double> losses;
  Evaluation evaluation;
};

TokenLosses token_losses(const StoredRun& run, TokenIds ids, std::int64_t streams, const SeePortion& see) {
  std::vector<std::vector<double>> of_rows(static_cast<std::size_t>(streams));
  const auto collect = [&](const Batch& segment, const Tensor& logits) {
    if (see && of_rows.front().empty()) see(segment, logits);
    const Tensor each =
        cross_entropy(logits, segment.y, {.reduction = Reduction::none, .ignore_index = no_answer}).to(f64);
    const auto losses = each.values<double>();
    const auto next = segment.y.values<std::int64_t>();
    const std::size_t time = losses.size() / of_rows.size();
    for (std::size_t k = 0; k < losses.size(); ++k)
      if (next[k] != no_answer) of_rows[k / time].push_back(losses[k]);
  };
  TokenLosses result{{}, evaluate(*run.model, *run.task, ids, streams, collect)};
  for (const std::vector<double>& row : of_rows) result.losses.insert(result.losses.end(), row.begin(), row.end());
  return result;
}

}  // namespace

TextTest test_on_text(const StoredRun& run, std::int64_t passages,
                      const std::optional<KeepLearningOptions>& keep_learning, const SeePortion& see) {
  const Task& task = *run.task;
  const TextData& data = *task.text_data();
  const TokenIds ids = data.test();
  const TaskOptions& options = run.task_options;
  const std::string& own = run.input.empty() ? options.test_text.value_or(*options.text) : run.input;
  if (ids.size() < 2)
    throw ValueError(text("eval: ", own, " has ", ids.size(), " ", name_of(data.vocabulary.kind()),
                          " to test on; at least 2 are needed"));
  const auto [frozen, evaluation] = token_losses(run, ids, keep_learning ? 1 : streams_of_test(ids), see);
  const auto every_token = [](std::size_t) { return true; };
  TextTest test{.file = own,
                .tokens = std::ssize(frozen),
                .kind = data.vocabulary.kind(),
                .evaluation = evaluation,
                .metric = estimate_of(task.metric(), frozen, every_token),
                .categories = categories_of(task, ids, frozen),
                .passages = worst_passages(task, frozen, passages),
                .learning = {}};
  if (!keep_learning) return test;
  const std::vector<double> learning = losses_while_learning(run, ids, *keep_learning);
  test.learning = {*keep_learning, estimate_of(task.metric(), learning, every_token), difference_of(learning, frozen)};
  return test;
}

}  // namespace retrace
