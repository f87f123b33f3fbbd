#include <retrace/models/tasks/draw_different.h>
#include <retrace/models/tasks/nth_farthest.h>
#include <retrace/models/tasks/simulated.h>

#include <numeric>
#include <span>

namespace retrace {
namespace {

using Numbers = std::vector<double, PoolAllocator<double>>;

/// A sample in the order in which its vectors are shown.
class Draw {
 public:
  explicit Draw(const NthFarthestOptions& options)
      : options_(options),
        active_(options.active_dims == 0 ? options.dims : options.active_dims),
        coordinates_(static_cast<std::size_t>(options.vectors * active_)),
        labels_(static_cast<std::size_t>(options.vectors)),
        order_(labels_.size()),
        keys_(labels_.size()) {}

  void next(Random& random) {
    // Rounded to f32, so that the answer is the same for every dtype.
    for (double& x : coordinates_) x = static_cast<double>(static_cast<float>(random.uniform(-1, 1)));
    draw_different(random, options_.vectors, labels_);
    center_ = random.integer(options_.vectors);
    rank_ = options_.ranks.empty()
                ? 1 + random.integer(options_.vectors)
                : options_.ranks[static_cast<std::size_t>(random.integer(std::ssize(options_.ranks)))];
  }

  std::span<const double> vector(std::int64_t k) const {
    return {coordinates_.data() + k * active_, static_cast<std::size_t>(active_)};
  }
  std::int64_t label(std::int64_t k) const { return labels_[static_cast<std::size_t>(k)]; }
  std::int64_t center() const { return center_; }
  std::int64_t rank() const { return rank_; }

  /// The vector that is asked for.
  std::int64_t answer() {
    return ranked([this](std::int64_t k) { return squared_distance(vector(k), vector(center_)); });
  }
  /// The vector whose length has the rank that is asked for, m being the shortest.
  std::int64_t guess_by_length() {
    return ranked([this](std::int64_t k) { return k == center_ ? -1 : squared_length(vector(k)); });
  }

 private:
  /// The vector at the rank asked for, the one with the largest key first.
  template <class Key> std::int64_t ranked(Key&& key) {
    for (std::int64_t k = 0; k < options_.vectors; ++k) keys_[static_cast<std::size_t>(k)] = key(k);
    std::iota(order_.begin(), order_.end(), std::int64_t{0});
    const auto at_rank = order_.begin() + (rank_ - 1);
    std::nth_element(order_.begin(), at_rank, order_.end(), [this](std::int64_t a, std::int64_t b) {
      return keys_[static_cast<std::size_t>(a)] > keys_[static_cast<std::size_t>(b)];
    });
    return *at_rank;
  }
  static double squared_length(std::span<const double> a) {
    return std::inner_product(a.begin(), a.end(), a.begin(), 0.0);
  }
  static double squared_distance(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
  }

  const NthFarthestOptions& options_;
  std::int64_t active_;
  Numbers coordinates_;
  Integers labels_;
  Integers order_;
  Numbers keys_;
  std::int64_t center_ = 0;
  std::int64_t rank_ = 1;
};

}  // namespace

NthFarthest::NthFarthest(const NthFarthestOptions& options)
    : Task("nth-farthest", TaskKind::classification), options_(options) {
  if (options.vectors < 2 || options.dims < 1)
    throw ValueError(text("nth-farthest: ", options.vectors, " vectors of ", options.dims,
                          " dims are not a task; take 2 or more of 1 or more"));
  const std::int64_t vectors = options.vectors;
  check_memory("nth-farthest", "a sample",
               {vectors, checked_sum("nth-farthest", "dims + 3 vectors", {options.dims, vectors, vectors, vectors})});
  if (options.active_dims < 0 || options.active_dims > options.dims)
    throw ValueError(text("nth-farthest: ", options.active_dims, " active dims of ", options.dims,
                          "; take 1 to all of them, or 0 for all"));
  for (const std::int64_t rank : options.ranks)
    if (rank < 1 || rank > options.vectors)
      throw ValueError(text("nth-farthest: rank ", rank, " of ", options.vectors,
                            " vectors; ranks go from 1 (farthest) to the number of vectors (m itself)"));
}

std::unique_ptr<Task> NthFarthest::make(const TaskOptions& given) {
  NthFarthestOptions options;
  options.vectors = given.vectors.value_or(options.vectors);
  options.dims = given.dims.value_or(options.dims);
  return std::make_unique<NthFarthest>(options);
}

Baselines NthFarthest::baselines() const {
  Draw draw(options_);
  const auto vectors = static_cast<double>(options_.vectors);
  const double by_length = simulated_share([&](Random& random) {
    draw.next(random);
    return draw.guess_by_length() == draw.answer();
  });
  const double asks_for_center = options_.ranks.empty()
                                     ? 1 / vectors
                                     : static_cast<double>(std::ranges::count(options_.ranks, options_.vectors)) /
                                           static_cast<double>(options_.ranks.size());
  return {.chance = 1 / vectors,
          .trivial = by_length,
          .trivial_answer = "by the vectors' lengths",
          .ceiling = 1,
          .shortcuts = {
              {"m where it is asked for, else any other", asks_for_center + (1 - asks_for_center) / (vectors - 1)}}};
}

std::vector<Lesson> NthFarthest::lessons() const {
  // With 8 vectors, a model that compares m only with the vectors after it, and judges those before it by their
  // lengths, finds the farthest in 62 to 65 % of the samples, and does not get further in many dims. The products with
  // all vectors find it in 72 to 79 %.
  constexpr double compares_all = 0.7;
  std::vector<Lesson> lessons;
  const auto add = [&](std::int64_t ranks, std::int64_t dims) {
    NthFarthestOptions easier{.vectors = options_.vectors, .dims = options_.dims, .active_dims = dims};
    for (std::int64_t rank = 1; rank <= ranks; ++rank) easier.ranks.push_back(rank);
    lessons.push_back({std::make_unique<NthFarthest>(easier), compares_all});
  };
  for (std::int64_t dims = 1; dims < options_.dims; dims *= 2) add(1, dims);
  for (std::int64_t ranks = 1; ranks <= std::min<std::int64_t>(3, options_.vectors - 1); ++ranks) add(ranks, 0);
  return lessons;
}

void NthFarthest::fill(Random& random, const Batch& batch) const {
  const std::int64_t vectors = options_.vectors, dims = options_.dims;
  std::int64_t* answer = batch.y.mutable_values<std::int64_t>().data();
  Draw draw(options_);
  dispatch_real(batch.x.dtype(), "nth-farthest", [&](auto zero) {
    using T = decltype(zero);
    T* row = batch.x.mutable_values<T>().data();
    for (std::int64_t sample = 0; sample < batch.x.dim(0); ++sample) {
      draw.next(random);
      for (std::int64_t k = 0; k < vectors; ++k, row += input_size()) {
        std::ranges::transform(draw.vector(k), row, [](double x) { return static_cast<T>(x); });
        T* labels = row + dims;
        labels[draw.label(k)] = labels[vectors + draw.rank() - 1] = labels[2 * vectors + draw.label(draw.center())] = 1;
      }
      answer[sample] = draw.label(draw.answer());
    }
  });
}

std::int64_t NthFarthest::rank_in(const Example& example) const {
  return 1 + hot(columns(example.row(0), options_.dims + options_.vectors, options_.vectors));
}

std::int64_t NthFarthest::center_in(const Example& example) const {
  return hot(columns(example.row(0), options_.dims + 2 * options_.vectors, options_.vectors));
}

std::int64_t NthFarthest::topic(const Example& example, std::int64_t t) const {
  return hot(columns(example.row(t), options_.dims, options_.vectors));
}

std::optional<std::int64_t> NthFarthest::row_to_remember(const Example& example) const {
  for (std::int64_t t = 0; t < example.length(); ++t)
    if (topic(example, t) == center_in(example)) return t;
  return std::nullopt;
}

std::vector<Category> NthFarthest::categories(const Example& example, std::int64_t) const {
  return {{"n", rank_in(example)}, {"position of m", row_to_remember(example).value_or(-1) + 1}};
}

std::string NthFarthest::describe_row(const Example& example, std::int64_t t) const {
  return text("vector ", topic(example, t));
}

std::string NthFarthest::describe(const Example& example) const {
  std::string lines = text("which vector is number ", rank_in(example), " of ", options_.vectors,
                           " from the farthest, seen from vector ", center_in(example), "?");
  for (std::int64_t t = 0; t < example.length(); ++t)
    lines += text("\nvector ", topic(example, t), topic(example, t) == center_in(example) ? " (m)" : "", ": ",
                  written(columns(example.row(t), 0, options_.dims)));
  return lines;
}

}  // namespace retrace
