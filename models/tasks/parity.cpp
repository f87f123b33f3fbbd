#include <retrace/models/tasks/parity.h>

namespace retrace {

Parity::Parity(const ParityOptions& options) : Task("parity", TaskKind::classification), options_(options) {
  if (options.length < 1)
    throw ValueError(text("parity: a word of ", options.length, " bits has none; ask for 1 or more"));
  check_memory("parity", "a sample", {options.length, 1});
}

std::unique_ptr<Task> Parity::make(const TaskOptions& given) {
  ParityOptions options;
  options.length = given.length.value_or(options.length);
  return std::make_unique<Parity>(options);
}

Baselines Parity::baselines() const {
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

std::vector<Category> Parity::categories(const Example&, std::int64_t answer) const {
  return {{"bits read", answer + 1}};
}

std::string Parity::describe_row(const Example& example, std::int64_t t) const {
  return topic(example, t) == 1 ? "1" : "0";
}

std::string Parity::describe(const Example& example) const {
  std::string bits;
  for (std::int64_t t = 0; t < example.length(); ++t) bits += describe_row(example, t);
  return bits;
}

std::string Parity::describe_label(std::int64_t label) const { return label == 1 ? "o" : "e"; }

std::int64_t Parity::topic(const Example& example, std::int64_t t) const { return example.row(t).front() > 0 ? 1 : 0; }

}  // namespace retrace
