#include <retrace/models/tasks/adding.h>

#include <algorithm>
#include <array>

namespace retrace {

Adding::Adding(const AddingOptions& options) : Task("adding", TaskKind::regression), options_(options) {
  if (options.length < 2)
    throw ValueError(text("adding: ", options.length, " rows do not hold two marked numbers; ask for 2 or more"));
  check_memory("adding", "a sample", {options.length, 2});
}

std::unique_ptr<Task> Adding::make(const TaskOptions& given) {
  AddingOptions options;
  options.length = given.length.value_or(options.length);
  return std::make_unique<Adding>(options);
}

Baselines Adding::baselines() const {
  constexpr double variance =
      2.0 / 12;  // of the sum of two numbers from U(0, 1); two independent sums differ by twice that
  return {.chance = 2 * variance, .trivial = variance, .trivial_answer = "always 1", .ceiling = 0};
}

void Adding::fill(Random& random, const Batch& batch) const {
  const std::int64_t length = options_.length, half = length / 2;
  dispatch_real(batch.x.dtype(), "adding", [&](auto zero) {
    using T = decltype(zero);
    T* rows = batch.x.mutable_values<T>().data();
    T* answer = batch.y.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample, rows += 2 * length) {
      for (std::int64_t row = 0; row < length; ++row) rows[2 * row] = static_cast<T>(random.uniform());
      T* first = rows + 2 * random.integer(half);
      T* second = rows + 2 * (half + random.integer(length - half));
      first[1] = second[1] = 1;
      answer[sample] = first[0] + second[0];
    }
  });
}

namespace {

/// The rows whose numbers are to be added.
std::vector<std::int64_t> marked_rows(const Example& example) {
  std::vector<std::int64_t> rows;
  for (std::int64_t t = 0; t < example.length(); ++t)
    if (example.row(t)[1] != 0) rows.push_back(t);
  return rows;
}

}  // namespace

std::vector<Category> Adding::categories(const Example& example, std::int64_t) const {
  static constexpr std::array<std::string_view, 4> quarters{"up to a quarter of the length", "up to a half",
                                                            "up to three quarters", "more"};
  const std::vector<std::int64_t> rows = marked_rows(example);
  const std::int64_t quarter = std::min<std::int64_t>(3, 4 * (rows.back() - rows.front()) / example.length());
  return {{"rows between the marks", quarter, quarters[static_cast<std::size_t>(quarter)]}};
}

std::string Adding::describe(const Example& example) const {
  std::string words;
  for (const std::int64_t t : marked_rows(example))
    words += text(words.empty() ? "" : " + ", written(columns(example.row(t), 0, 1)), " (row ", t + 1, ")");
  return text(words, " of ", example.length(), " rows");
}

}  // namespace retrace
