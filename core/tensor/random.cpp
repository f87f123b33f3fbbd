#include <retrace/core/tensor/random.h>

#include <cmath>
#include <numbers>
#include <numeric>

namespace retrace {
namespace {

using Block = std::array<std::uint32_t, 4>;

// Ten rounds of Philox on four words, with a key of two.
Block philox(Block counter, std::uint64_t key) {
  std::uint32_t key0 = static_cast<std::uint32_t>(key);
  std::uint32_t key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key0, static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key1, static_cast<std::uint32_t>(product0)};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return counter;
}

// Mixes a number into a stream identity (the finaliser of SplitMix64).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

}  // namespace

Random Random::none(std::int64_t elements) {
  Random none;
  none.zeros_left_ = elements;
  return none;
}

template <class Draw> Tensor Random::filled(const Shape& shape, Dtype dtype, const char* function, Draw&& draw) {
  if (zeros_left_) {
    check_numel(shape, function);
    if (shape.numel() > *zeros_left_)
      throw ValueError(text(function, ": ", shape, " is more than the ", *zeros_left_,
                            " elements that are left of those to be loaded; the sizes are not those of the weights"));
    Tensor result = dispatch_real(dtype, function, [&](auto) { return zeros(shape, dtype); });
    *zeros_left_ -= shape.numel();
    return result;
  }
  Tensor result = empty(shape, dtype, function);
  dispatch_real(dtype, function, [&](auto zero) {
    using T = decltype(zero);
    result.update<T>([&](std::span<T> values) {
      for (T& value : values) value = static_cast<T>(draw());
    });
  });
  return result;
}

Random Random::stream(std::string_view name) const {
  std::uint64_t hash = 0xCBF29CE484222325;  // FNV-1a
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3;
  return stream(hash);
}

Random Random::stream(std::uint64_t number) const {
  Random result(State{.key = key_, .stream = mix(stream_ ^ mix(number)), .drawn = 0});
  result.zeros_left_ = zeros_left_;
  return result;
}

std::uint32_t Random::bits() {
  const std::uint64_t block = drawn_ / 4;
  if (block != block_at_) {
    block_ = zeros_left_ ? Block{}
                         : philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                                   static_cast<std::uint32_t>(stream_), static_cast<std::uint32_t>(stream_ >> 32)},
                                  key_);
    block_at_ = block;
  }
  return block_[static_cast<std::size_t>(drawn_++ % 4)];
}

std::uint64_t Random::bits64() {
  const std::uint64_t high = bits();
  return high << 32 | bits();
}

double Random::uniform() { return static_cast<double>(bits64() >> 11) * 0x1p-53; }

double Random::uniform(double low, double high) {
  return std::min(low + (high - low) * uniform(), std::nextafter(high, low));  // the sum may round up to high
}

// Box and Muller's transform; the second number of the pair is not kept, so that the state stays a counter.
double Random::normal() {
  const double u = 1 - uniform();  // in (0, 1]
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * uniform());
}

std::int64_t Random::integer(std::int64_t count) {
  if (count < 1) throw ValueError(text("Random::integer: a choice of ", count, " numbers; count must be at least 1"));
  const std::uint64_t range = static_cast<std::uint64_t>(count);
  const std::uint64_t limit = ~std::uint64_t{0} - (~std::uint64_t{0} % range + 1) % range;  // the last unbiased draw
  std::uint64_t draw = bits64();
  while (draw > limit) draw = bits64();
  return static_cast<std::int64_t>(draw % range);
}

std::vector<std::int64_t> Random::permutation(std::int64_t count) {
  if (count < 0) throw ValueError(text("Random::permutation: of ", count, " numbers; count must be 0 or more"));
  check_memory("Random::permutation", "a list", {count}, i64);
  std::vector<std::int64_t> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), std::int64_t{0});
  for (std::int64_t last = count - 1; last > 0; --last)
    std::swap(result[static_cast<std::size_t>(last)], result[static_cast<std::size_t>(integer(last + 1))]);
  return result;
}

Tensor Random::uniform(const Shape& shape, double low, double high, Dtype dtype) {
  if (!(low <= high)) throw ValueError(text("Random::uniform: the range from ", low, " to ", high, " is empty"));
  // The largest number of the dtype below high: a conversion to f32 may round up to high itself.
  const double limit =
      dtype == f32 ? static_cast<double>(std::nextafter(static_cast<float>(high), static_cast<float>(low))) : high;
  return filled(shape, dtype, "Random::uniform", [&] { return std::min(uniform(low, high), limit); });
}

Tensor Random::normal(const Shape& shape, double mean, double deviation, Dtype dtype) {
  return filled(shape, dtype, "Random::normal", [&] { return mean + deviation * normal(); });
}

Tensor Random::integers(const Shape& shape, std::int64_t count) {
  Tensor result = empty(shape, i64, "Random::integers");
  result.update<std::int64_t>([&](std::span<std::int64_t> values) {
    for (std::int64_t& value : values) value = integer(count);
  });
  return result;
}

}  // namespace retrace
