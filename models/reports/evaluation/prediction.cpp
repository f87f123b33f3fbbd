#include <retrace/models/reports/evaluation/prediction.h>
#include <retrace/ops/ops.h>

#include <algorithm>

namespace retrace {
namespace {

std::size_t as_index(std::int64_t position) { return static_cast<std::size_t>(position); }

/// f(answer) for every answer that counts, combined by `join`.
template <class T, class F, class Join> T over_answers(const Prediction& sample, T start, F&& f, Join&& join) {
  for (std::int64_t answer = 0; answer < sample.example.answers(); ++answer)
    if (sample.counts(answer)) start = join(start, f(answer));
  return start;
}

constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto times = [](double a, double b) { return a * b; };

/// Words that all have one letter are written without spaces.
std::string row_of_words(const std::vector<std::string>& words) {
  const bool has_long_one = std::ranges::any_of(words, [](const std::string& word) { return word.size() > 1; });
  std::string row;
  for (const std::string& word : words) row += (row.empty() || !has_long_one ? "" : " ") + word;
  return row;
}

constexpr auto append = [](std::vector<std::string> words, std::string word) {
  words.push_back(std::move(word));
  return words;
};

}  // namespace

double Prediction::score(std::int64_t answer) const {
  if (kind == TaskKind::classification) return given[as_index(answer)] == example.label(answer) ? 1 : 0;
  const auto right = example.numbers(answer);
  double sum = 0;
  for (std::size_t k = 0; k < right.size(); ++k) {
    const double error = outputs[as_index(answer)][k] - right[k];
    sum += error * error;
  }
  return sum / static_cast<double>(right.size());
}

double Prediction::total() const {
  return over_answers(
      *this, 0.0, [&](std::int64_t answer) { return score(answer); }, plus);
}

std::int64_t Prediction::counted() const {
  return over_answers(
      *this, std::int64_t{0}, [](std::int64_t) { return std::int64_t{1}; }, plus);
}

bool Prediction::failed() const {
  return kind == TaskKind::regression ? total() > 0 : total() < static_cast<double>(counted());
}

std::string Prediction::expected_words(const Task& task) const {
  const auto words = [&](std::int64_t answer) {
    return kind == TaskKind::classification ? task.describe_label(example.label(answer))
                                            : task.describe_numbers(example.numbers(answer));
  };
  return row_of_words(over_answers(*this, std::vector<std::string>(), words, append));
}

std::string Prediction::given_words(const Task& task) const {
  const auto words = [&](std::int64_t answer) {
    return kind == TaskKind::classification ? task.describe_label(given[as_index(answer)])
                                            : task.describe_numbers(outputs[as_index(answer)]);
  };
  return row_of_words(over_answers(*this, std::vector<std::string>(), words, append));
}

double Prediction::probability_of_expected() const {
  const auto probability = [&](std::int64_t answer) {
    return outputs[as_index(answer)][as_index(example.label(answer))];
  };
  return over_answers(*this, 1.0, probability, times);
}

double Prediction::probability_of_given() const {
  const auto probability = [&](std::int64_t answer) {
    return outputs[as_index(answer)][as_index(given[as_index(answer)])];
  };
  return over_answers(*this, 1.0, probability, times);
}

AnsweredSample in_words(const Task& task, const Prediction& sample) {
  AnsweredSample result{.input = task.describe(sample.example),
                        .expected = sample.expected_words(task),
                        .given = sample.given_words(task),
                        .right = !sample.failed()};
  for (std::int64_t t = 0; t < sample.example.length(); ++t)
    result.rows.push_back(task.describe_row(sample.example, t));
  return result;
}

std::vector<Prediction> answered(const Task& task, const Batch& batch, const Tensor& output) {
  const bool is_classification = task.kind() == TaskKind::classification;
  const std::int64_t samples = batch.x.dim(0), answers = output.rank() == 3 ? output.dim(1) : 1;
  const std::int64_t width = task.output_size();
  const Tensor wide = output.to(f64);
  const Tensor numbers = is_classification ? softmax(wide) : wide;
  const Tensor labels = is_classification ? argmax(output) : Tensor();
  const double* number = numbers.values<double>().data();
  const std::int64_t* label = is_classification ? labels.values<std::int64_t>().data() : nullptr;
  std::vector<Prediction> result;
  for (std::int64_t sample = 0; sample < samples; ++sample) {
    Prediction& one = result.emplace_back(Prediction{Example(batch, sample), task.kind(), {}, {}});
    if (is_classification) one.given.assign(label + sample * answers, label + (sample + 1) * answers);
    for (std::int64_t answer = 0; answer < answers; ++answer, number += width)
      one.outputs.emplace_back(number, number + width);
  }
  return result;
}

}  // namespace retrace
