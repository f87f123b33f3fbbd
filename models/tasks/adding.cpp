#include <retrace/models/tasks/adding.h>

namespace retrace {

Adding::Adding(const AddingOptions& options) : Task("adding", TaskKind::regression), options_(options) {
  if (options.length < 2)
    throw ValueError(text("adding: ", options.length, " rows do not hold two marked numbers; ask for 2 or more"));
}

Yardsticks Adding::yardsticks() const {
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

}  // namespace retrace
