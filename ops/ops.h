// Every op: its formula, its rule of shapes, its edge values. This file is the op reference; ops.def lists the names.
//
// Conventions. a, b, x are tensors; y is the result. Elementwise ops of two tensors broadcast as NumPy does, and their
// backward sums over the broadcast axes. Axes may be negative (-1 is the last). Mixed dtypes throw a DtypeError, except
// that f64 meeting dual gets a zero tangent; i64 has no gradient, and ops that need real numbers refuse it by name.
// NaN in is NaN out, everywhere. Nothing is changed when something throws.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <retrace/core/random.h>
#include <retrace/core/recording.h>
#include <retrace/core/tensor.h>

namespace retrace {

// ---- arithmetic

/// y = a + b.
Tensor add(const Tensor& a, const Tensor& b);
/// y = a - b.
Tensor sub(const Tensor& a, const Tensor& b);
/// y = a b, element by element.
Tensor mul(const Tensor& a, const Tensor& b);
/// y = a / b.
Tensor div(const Tensor& a, const Tensor& b);
/// y = -x.
Tensor neg(const Tensor& x);
/// y = factor x.
Tensor scale(const Tensor& x, double factor);
/// y = x + offset.
Tensor shift(const Tensor& x, double offset);
/// y = max(a, b) and min(a, b). Where a = b each gets half of the gradient. NaN if either is NaN.
Tensor maximum(const Tensor& a, const Tensor& b);
Tensor minimum(const Tensor& a, const Tensor& b);
/// y = x^p.
Tensor pow(const Tensor& x, double exponent);
/// y = a^b, for a > 0 where b wants a gradient.
Tensor pow(const Tensor& a, const Tensor& b);
/// y = e^x.
Tensor exp(const Tensor& x);
/// y = ln x. -inf at 0, NaN below.
Tensor log(const Tensor& x);
/// y = sqrt x.
Tensor sqrt(const Tensor& x);
/// y = x^2.
Tensor square(const Tensor& x);
/// y = |x|; gradient 0 at 0.
Tensor abs(const Tensor& x);
/// y = 1/x.
Tensor reciprocal(const Tensor& x);
Tensor sin(const Tensor& x);
Tensor cos(const Tensor& x);
/// y = min(max(x, low), high); gradient 1 strictly inside, 0 elsewhere. Throws ValueError if low > high.
Tensor clip(const Tensor& x, double low, double high);
/// y = a where condition (i64) is not 0, else b; all three broadcast.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// y = value where mask (i64, broadcast to x) is not 0, else x.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
/// The same numbers in another dtype; the gradient goes back in x's. To i64 it truncates and has no gradient.
inline Tensor to(const Tensor& x, Dtype dtype) { return x.to(dtype); }

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& x) { return neg(x); }
inline Tensor operator+(const Tensor& x, double c) { return shift(x, c); }
inline Tensor operator+(double c, const Tensor& x) { return shift(x, c); }
inline Tensor operator-(const Tensor& x, double c) { return shift(x, -c); }
inline Tensor operator-(double c, const Tensor& x) { return shift(neg(x), c); }
inline Tensor operator*(const Tensor& x, double c) { return scale(x, c); }
inline Tensor operator*(double c, const Tensor& x) { return scale(x, c); }
inline Tensor operator/(const Tensor& x, double c) { return scale(x, 1 / c); }
inline Tensor operator/(double c, const Tensor& x) { return scale(reciprocal(x), c); }

// ---- activations
// Exact to rounding in both tails; finite in is finite out.

/// y = 1 / (1 + e^-x).
Tensor sigmoid(const Tensor& x);
Tensor tanh(const Tensor& x);
/// y = max(x, 0); gradient 0 at 0.
Tensor relu(const Tensor& x);
/// y = x for x > 0, else slope x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// y = x Phi(x), Phi the normal distribution function (by erf).
Tensor gelu(const Tensor& x);
/// y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
Tensor gelu_tanh(const Tensor& x);
/// y = x sigmoid(x).
Tensor silu(const Tensor& x);
/// y = ln(1 + e^x).
Tensor softplus(const Tensor& x);
/// y = -ln(1 + e^-x).
Tensor log_sigmoid(const Tensor& x);

// ---- products

struct MatmulOptions {
  bool transpose_a = false;  // the last two axes of a (of rank 2 or more) are exchanged first
  bool transpose_b = false;
};
/// y = a b by NumPy's rules: the last two axes multiply, those before them broadcast; a vector counts as a row on the
/// left and as a column on the right, and that axis is dropped again. An inner length of 0 gives zeros.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});
/// What an op that contains an activation applies, element by element.
enum class Activation { none, relu, tanh, sigmoid, gelu, gelu_tanh };
/// y = f(x W^T + b), f being the activation: x [..., in], W [out, in], b [out] or undefined -> [..., out]. One op, with
/// the bits of two.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Activation activation = Activation::none);
/// y[i, j] = a[i] b[j].
Tensor outer(const Tensor& a, const Tensor& b);

// ---- reductions

/// Which axes: one, several, or (by default) all.
class Axes {
 public:
  Axes() : all_(true) {}
  Axes(int axis) : list_{axis}, count_(1) {}
  Axes(std::initializer_list<int> axes) : Axes(std::span(axes.begin(), axes.size())) {}
  explicit Axes(std::span<const int> axes);
  /// flags[k] says whether axis k of x is meant. Throws ShapeError, with the function's name and x, for an axis that is
  /// not there or is named twice.
  std::array<bool, max_rank> flags(const Tensor& x, const char* function) const;

 private:
  std::array<int, max_rank> list_{};
  int count_ = 0;
  bool all_ = false;
};
struct ReduceOptions {
  bool keepdims = false;  // keep reduced axes with length 1
};
/// Of nothing: 0.
Tensor sum(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// Of nothing: NaN.
Tensor mean(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// Equal largest elements share the gradient evenly. Of nothing: a ShapeError. NaN if any is NaN.
Tensor max(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
Tensor min(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// mean((x - mean(x))^2), two passes. Of nothing: NaN.
Tensor var(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// Zeros are exact, in the gradient too. Of nothing: 1.
Tensor prod(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// ln sum e^x, shifted by the maximum. Of nothing, and of -inf alone: -inf with gradient 0.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// sqrt(sum x^2); gradient 0 at the origin.
Tensor norm(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y_k = x_0 + ... + x_k along an axis.
Tensor cumsum(const Tensor& x, int axis = -1);
/// The first index of the largest element (i64, no gradient); NaN counts as largest. An axis of length 0: a ShapeError.
Tensor argmax(const Tensor& x, int axis = -1);

// ---- softmax and normalisation

/// y = e^(x + mask - max) / sum, along an axis. The mask broadcasts to x, is added first and gets no gradient; a row
/// that it fills with -inf gives zeros and a zero gradient.
Tensor softmax(const Tensor& x, int axis = -1, const Tensor& mask = {});
/// y = x + mask - max - ln sum e^(x + mask - max). A row of -inf alone gives -inf and a zero gradient.
Tensor log_softmax(const Tensor& x, int axis = -1, const Tensor& mask = {});
struct LayerNormOptions {
  int axes = 1;  // how many of the last axes are normalised together
  double eps = 1e-5;
};
/// y = (x - mean) / sqrt(var + eps) * gamma + beta over the last axes; biased variance, two passes. gamma and beta have
/// the shape of the normalised axes; each may be undefined.
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {}, LayerNormOptions options = {});
/// layer_norm(x + residual, gamma, beta, options) in one pass; x and residual have one shape.
Tensor residual_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gamma = {}, const Tensor& beta = {},
                           LayerNormOptions options = {});
/// y = x / sqrt(mean(x^2) + eps) * gamma over the last axis; gamma may be undefined.
Tensor rms_norm(const Tensor& x, const Tensor& gamma = {}, double eps = 1e-6);

// ---- shape

/// Row-major, with as many elements. Shares the storage.
Tensor reshape(const Tensor& x, const Shape& shape);
/// Axis k of y is axis permutation[k] of x. Without one, the last two axes are exchanged.
Tensor transpose(const Tensor& x, std::span<const int> permutation);
Tensor transpose(const Tensor& x, std::initializer_list<int> permutation);
Tensor transpose(const Tensor& x);
/// One entry of an index: an integer takes one position and drops the axis, a range keeps it, new_axis puts one in.
class Index {
 public:
  enum class Kind { integer, range, new_axis };
  template <class Integer>
  requires std::is_integral_v<Integer> Index(Integer position) : kind(Kind::integer), start(position) {}
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  Index(Kind k, std::int64_t from, std::int64_t to, std::int64_t by) : kind(k), start(from), stop(to), step(by) {}

  Kind kind;
  std::int64_t start = none;
  std::int64_t stop = none;
  std::int64_t step = 1;
};
/// start:stop:step as in Python: clamped to the axis, negative positions count from its end, Index::none leaves an end
/// open.
Index range(std::int64_t start = Index::none, std::int64_t stop = Index::none, std::int64_t step = 1);
inline const Index all{Index::Kind::range, Index::none, Index::none, 1};
inline const Index new_axis{Index::Kind::new_axis, 0, 0, 1};
/// x[index...]: axes without an entry are taken whole. Integers outside throw an IndexError.
Tensor slice(const Tensor& x, std::span<const Index> index);
Tensor slice(const Tensor& x, std::initializer_list<Index> index);
/// One after the other along an axis; other extents are equal.
Tensor concat(const Tensors& parts, int axis = 0);
/// The same, along a new axis.
Tensor stack(const Tensors& parts, int axis = 0);
/// Parts of the given sizes, which sum to the axis.
Tensors split(const Tensor& x, std::span<const std::int64_t> sizes, int axis = 0);
Tensors split(const Tensor& x, std::initializer_list<std::int64_t> sizes, int axis = 0);
Tensor squeeze(const Tensor& x, int axis);
Tensor unsqueeze(const Tensor& x, int axis);
Tensor broadcast_to(const Tensor& x, const Shape& shape);
Tensor flip(const Tensor& x, int axis);
struct Padding {
  std::int64_t before = 0;
  std::int64_t after = 0;
};
/// Zeros around x: one Padding an axis.
Tensor pad(const Tensor& x, std::span<const Padding> padding);
Tensor pad(const Tensor& x, std::initializer_list<Padding> padding);

// ---- indexing
// Indices are i64; one outside its axis throws an IndexError with its position and value. Repeated ones add up.

/// y = x at ids (rank 1, or 0 to drop the axis) along an axis.
Tensor take(const Tensor& x, const Tensor& ids, int axis = 0);
/// y[.., j, ..] = x[.., ids[.., j, ..], ..]: ids has x's shape but along `axis`.
Tensor gather(const Tensor& x, const Tensor& ids, int axis = -1);
/// y[..., :] = table[ids[...], :].
Tensor embedding(const Tensor& table, const Tensor& ids);
/// y = x, then y[ids[i]] += updates[i] along the first axis.
Tensor scatter_add(const Tensor& x, const Tensor& ids, const Tensor& updates);

// ---- losses

enum class Reduction { mean, sum, none };
struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;
  std::optional<std::int64_t> ignore_index = std::nullopt;  // rows with this label count nowhere
};
/// l = -log_softmax(x)[t] for logits x [..., C] and labels t [...] (i64), or -sum_c t_c log_softmax(x)_c for soft
/// targets [..., C]. With every row ignored: 0, with gradient 0.
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options = {});
/// l = -logp[t] for log-probabilities [..., C].
Tensor nll(const Tensor& log_probabilities, const Tensor& targets, CrossEntropyOptions options = {});
/// l = (x - t)^2; shapes are equal.
Tensor mse(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
/// l = max(x, 0) - x t + ln(1 + e^-|x|); shapes are equal.
Tensor bce_with_logits(const Tensor& logits, const Tensor& target, Reduction reduction = Reduction::mean);

// ---- the rest

/// Each element is 0 with the given probability, else x / (1 - probability). Without a generator: x itself.
Tensor dropout(const Tensor& x, double probability, Random* random);

struct AttentionOptions {
  int heads = 1;        // the last axis holds this many heads side by side
  bool causal = false;  // query i sees keys 0 .. i (+ Lk - Lq)
  Tensor mask = {};  // additive, broadcast to [..., heads, Lq, Lk] (or to [..., Lq, Lk] for each head), or i64: 0 hides
};
struct AttentionResult {
  Tensor y;
  Tensor weights;  // [..., heads, Lq, Lk]; [..., Lq, Lk] for one head
};
/// y = softmax(q k^T / sqrt(dk) + mask) v, for each head. q [..., Lq, dk], k [..., Lk, dk], v [..., Lk, dv] -> [...,
/// Lq, dv]. Without being asked for its weights, attention of more than 32,768 of them a head does not store them: it
/// computes them some queries at a time, in backward again, and saves the mask, which must then not be changed before.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});
AttentionResult attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionOptions& options = {});

/// [..., T, D] -> [..., heads, T, D / heads]: head h has columns h D / heads to (h + 1) D / heads. Throws ShapeError
/// where heads do not divide D.
Tensor split_heads(const Tensor& x, int heads);
/// The inverse: [..., heads, T, d] -> [..., T, heads d].
Tensor combine_heads(const Tensor& x);
/// An additive mask [queries, keys]: 0 where query i may see key j, j <= i + keys - queries, and -inf elsewhere. With
/// one length, 0 on and below the diagonal.
Tensor causal_mask(std::int64_t queries, std::int64_t keys, Dtype dtype = default_dtype());
Tensor causal_mask(std::int64_t length, Dtype dtype = default_dtype());
/// An additive mask [B, 1, time] for samples of different lengths ([B], i64, each from 0 to `time`): 0 for key
/// j < length, -inf for what is only padding behind it. Throws IndexError for a length outside. Add it to a causal_mask
/// for both.
Tensor padding_mask(const Tensor& lengths, std::int64_t time, Dtype dtype = default_dtype());

/// How q, k and v share the columns of a row: [q1 k1 v1 q2 k2 v2 ...], or all heads' q, then all k, then all v.
enum class PackedLayout { by_head, by_kind };
struct PackedAttentionOptions {
  int heads = 1;
  std::int64_t key_size = 0;  // of one head; the rest of the columns are values
  PackedLayout layout = PackedLayout::by_kind;
  std::int64_t queries = 0;  // only the first rows ask; 0: all do
  bool causal = false;
  Tensor mask = {};
};
/// Attention of the rows of qkv [..., L, heads (2 key_size + value_size)] to each other, where they lie: y [...,
/// queries, heads value_size].
Tensor packed_attention(const Tensor& qkv, const PackedAttentionOptions& options);
AttentionResult packed_attention_with_weights(const Tensor& qkv, const PackedAttentionOptions& options);

// The recurrent layers over a whole sequence. `projected` p [B, T, gates H] holds W x + b of every step, computed as
// one product; U [gates H, H] is the recurrent weight, its gates' rows one under the other. After its length (lengths
// [B], i64; undefined: T) a sample keeps its state. Each is one record; with expand_fused its steps are composed of
// other ops.
struct LstmStep {
  Tensor h, c;  // [B, H]
};
struct LstmSequence {
  Tensor y;     // [B, T, H]: h after every step
  Tensor h, c;  // [B, H]: after the last one
};
/// i, f, o = sigmoid(p + U h), g = tanh(p + U h), c' = f c + i g, h' = o tanh c'; gates in the order i, f, g, o.
LstmStep lstm_step(const Tensor& projected, const Tensor& h, const Tensor& c, const Tensor& weight);
LstmSequence lstm_sequence(const Tensor& projected, const Tensor& h, const Tensor& c, const Tensor& weight,
                           const Tensor& lengths = {});
struct RnnSequence {
  Tensor y;  // [B, T, H]: h after every step
  Tensor h;  // [B, H]: after the last one
};
/// q = U h + b, r, z = sigmoid(p + q), n = tanh(p + r q), h' = (1 - z) n + z h; gates in the order r, z, n.
Tensor gru_step(const Tensor& projected, const Tensor& h, const Tensor& weight, const Tensor& bias);
RnnSequence gru_sequence(const Tensor& projected, const Tensor& h, const Tensor& weight, const Tensor& bias,
                         const Tensor& lengths = {});
/// h' = f(p + U h), f being the activation; a sequence takes tanh or relu.
Tensor rnn_step(const Tensor& projected, const Tensor& h, const Tensor& weight,
                Activation activation = Activation::tanh);
RnnSequence rnn_sequence(const Tensor& projected, const Tensor& h, const Tensor& weight,
                         Activation activation = Activation::tanh, const Tensor& lengths = {});

struct GatedMemoryOptions {
  Tensor input_bias = {};   // [], added to z_i
  Tensor forget_bias = {};  // [], added to z_f
  bool coupled = false;     // there is no z_f: f = 1 - i
};
struct GatedMemory {
  Tensor memory;       // [..., N, S]
  Tensor input_gate;   // i
  Tensor forget_gate;  // f; undefined where coupled
};
/// A memory m [..., N, S] and its candidate c, mixed by gates: z = p + q, i = sigmoid(z_i + b_i), f = sigmoid(z_f +
/// b_f), m' = i tanh c + f m. Of c [..., N or more, S] the first N rows count. The gates of the memory p [..., N, 2S]
/// hold z_i and z_f side by side, one for each unit; [..., N, 2] one for each slot (coupled: S or 1). Those of the
/// input q [..., 2S] are the same for every slot.
GatedMemory gated_memory(const Tensor& memory, const Tensor& candidate, const Tensor& gates_of_memory,
                         const Tensor& gates_of_input, const GatedMemoryOptions& options = {});

struct CustomOpOptions {
  bool differences_only = false;  // the op does not run on dual numbers, because it reads values<double>()
};
/// Your own op. `forward` computes y from the inputs (nothing that it does is recorded); `backward` gives one gradient
/// per input from dy, the inputs and y (an undefined tensor: none). Prints, traces and gradcheck treat it as any other.
/// The exact check of gradcheck, jvp and hvp pass it dual numbers, so compute with ops or dispatch on the dtype. If
/// that is impossible, set differences_only: gradcheck then omits its exact check and says so, and dual inputs throw
/// DifferencesOnlyError.
using CustomForward = std::function<Tensor(const Tensors& inputs)>;
using CustomBackward = std::function<Tensors(const Tensor& dy, const Tensors& inputs, const Tensor& y)>;
Tensor custom_op(std::string_view name, const Tensors& inputs, CustomForward forward, CustomBackward backward,
                 CustomOpOptions options = {});

}  // namespace retrace
