#include <retrace/models/tasks/parity.h>

namespace retrace {

Parity::Parity(const ParityOptions& options) : Task("parity", TaskKind::classification), options_(options) {
  if (options.length < 1)
    throw ValueError(text("parity: a word of ", options.length, " bits has none; ask for 1 or more"));
}

Yardsticks Parity::yardsticks() const {
  return {.chance = 0.5, .trivial = 0.5, .trivial_answer = "either", .ceiling = 1};
}

void Parity::fill(Random& random, const Batch& batch) const {
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  dispatch_real(batch.x.dtype(), "parity", [&](auto zero) {
    using T = decltype(zero);
    T* row = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample) {
      std::int64_t odd = 0;
      for (std::int64_t bit = 0; bit < options_.length; ++bit) {
        const std::int64_t one = random.integer(2);
        *row++ = one == 1 ? T(1) : T(-1);
        odd ^= one;
        *answer++ = odd;
      }
    }
  });
}

}  // namespace retrace
