// Random numbers as values: a generator is an argument, there is no global one. Philox 4x32-10 (Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3", 2011): the n-th draw is a function of seed, stream and n.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// The same seed gives the same bits and uniforms on every machine.
class Random {
 public:
  explicit Random(std::uint64_t seed = 0) : key_(seed) {}
  /// A generator that draws nothing, for a model whose weights are loaded next: every bit and number is 0, and tensors
  /// are zeros. Tensors with more than `elements` elements in all throw ValueError before they are allocated: sizes
  /// that nobody has checked are not those of the weights that are there.
  static Random none(std::int64_t elements = std::numeric_limits<std::int64_t>::max());
  bool draws() const { return !zeros_left_; }
  /// A generator of its own for a named purpose ("weights", "batches"): independent of how much this one has drawn.
  Random stream(std::string_view name) const;
  /// The stream with a number for a name: stream(step), stream(sample).
  Random stream(std::uint64_t number) const;

  /// 32 or 64 random bits.
  std::uint32_t bits();
  std::uint64_t bits64();
  /// A double in [0, 1), in [low, high), or a standard normal one.
  double uniform();
  double uniform(double low, double high);
  double normal();
  /// An integer in [0, count), each as likely as the others. Throws ValueError for count < 1.
  std::int64_t integer(std::int64_t count);
  bool chance(double probability) { return uniform() < probability; }
  /// 0 .. count-1 in random order.
  std::vector<std::int64_t> permutation(std::int64_t count);

  /// Tensors of the same.
  Tensor uniform(const Shape& shape, double low, double high, Dtype dtype = default_dtype());
  Tensor uniform(const Shape& shape, Dtype dtype = default_dtype()) { return uniform(shape, 0, 1, dtype); }
  Tensor normal(const Shape& shape, Dtype dtype = default_dtype()) { return normal(shape, 0, 1, dtype); }
  Tensor normal(const Shape& shape, double mean, double deviation, Dtype dtype = default_dtype());
  Tensor integers(const Shape& shape, std::int64_t count);

  /// All there is to know of it, for checkpoints.
  struct State {
    std::uint64_t key = 0;
    std::uint64_t stream = 0;
    std::uint64_t drawn = 0;  // numbers of 32 bits
    bool operator==(const State&) const = default;
  };
  State state() const { return {key_, stream_, drawn_}; }
  explicit Random(const State& state) : key_(state.key), stream_(state.stream), drawn_(state.drawn) {}

 private:
  template <class Draw> Tensor filled(const Shape& shape, Dtype dtype, const char* function, Draw&& draw);

  std::uint64_t key_;
  std::uint64_t stream_ = 0;
  std::uint64_t drawn_ = 0;
  std::array<std::uint32_t, 4> block_{};
  std::uint64_t block_at_ = ~std::uint64_t{0};  // the counter that block_ was made of
  std::optional<std::int64_t> zeros_left_;      // of a generator that draws nothing
};

}  // namespace retrace
