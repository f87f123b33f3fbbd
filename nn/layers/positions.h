// Where in a sequence a step stands: learned and sinusoidal positions, which are added to its features; ALiBi, which
// acts inside of attention, as rotary positions do (the op `rotary`; see MultiHeadAttentionOptions).
#pragma once

#include <cstdint>

#include <retrace/nn/layers/initialise.h>
#include <retrace/nn/module/module.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// y[.., t, :] = x[.., t, :] + weight[first + t, :] for x [..., T, size]; weight [longest, size] is initially normal
/// with standard deviation 0.02. Throws ShapeError if x does not end in [T, size], IndexError if the steps from `first`
/// on are not in [0, longest).
struct LearnedPositions {
  Parameter weight;

  LearnedPositions(std::int64_t longest, std::int64_t size, Random& random)
      : weight(random.normal(parameter_shape("LearnedPositions", "weight", {longest, size}), 0, 0.02)) {}
  Tensor operator()(const Tensor& x, std::int64_t first = 0) const;
  void visit(auto&& see) const { see("weight", weight); }
};

/// p[t, 2i] = sin((first + t) / 10000^(2i / size)), p[t, 2i + 1] = cos((first + t) / 10000^(2i / size)): [length, size]
/// (Vaswani et al., "Attention is all you need", 2017). Throws ShapeError if an extent or `first` is negative,
/// DtypeError for i64.
Tensor sinusoidal_positions(std::int64_t length, std::int64_t size, std::int64_t first = 0,
                            Dtype dtype = default_dtype());

/// y = x + sinusoidal_positions for x [..., T, size]. Throws ShapeError if x has fewer than two axes.
struct SinusoidalPositions {
  Tensor operator()(const Tensor& x, std::int64_t first = 0) const;
  void visit(auto&&) const {}
};

/// The slope m_h of each head h = 1 to n: 2^(-8h / n) if n is a power of two; otherwise those of the power of two below
/// n, followed by every other one of twice that power. Throws ValueError if there is no head. (Press et al., "Train
/// short, test long: attention with linear biases enables input length extrapolation", 2022.)
Tensor alibi_slopes(int heads, Dtype dtype = default_dtype());
/// The biases that ALiBi adds to the scores of attention: -m_h |p - j| for key j and the query at p = i + keys -
/// queries: [heads, queries, keys]. Throws as alibi_slopes does, and ShapeError if a number is negative.
Tensor alibi_bias(int heads, std::int64_t queries, std::int64_t keys, Dtype dtype = default_dtype());

}  // namespace retrace
