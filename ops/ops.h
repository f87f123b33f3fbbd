// The op reference: the formula, shapes, edge values and errors of every op. ops.def lists the names.
//
// Conventions. a, b and x are tensors; y is the result; dy, dx are gradients. Elementwise ops broadcast as in NumPy,
// and their backward sums over the broadcast axes. An axis may be negative (-1 is the last one). [...] stands for any
// number of axes. NaN in is NaN out, except for what a mask, a length or a label hides: that reaches neither y nor a
// gradient. Sums of squares neither overflow nor underflow where the result does not.
//
// At a kink, the gradient is what the declaration says, and so is the tangent of a dual number (jvp). A second
// derivative there is that of the branch, if the gradient is the derivative of one (relu, clip, elu), and NaN if it
// lies between those of several (abs, norm, std, smooth_l1 with beta = 0, ties of max and maximum).
//
// Errors. Every op throws the following; a declaration lists only what it throws beyond them:
//   ShapeError  if two shapes do not broadcast, an axis does not exist, or y would have more than 8 axes;
//   DtypeError  if operands differ in dtype (f64 combines with dual: it gets a zero tangent), or if an operand is i64.
//               Ops that only move elements take i64, too, and so do add, sub, mul, neg, abs, remainder, maximum,
//               minimum, clip, where, sum, max, min, prod, cumsum, cumprod and those that give i64. i64 wraps around on
//               overflow and has no gradient;
//   ValueError  if an operand is undefined and not optional.
// An op that throws changes nothing.
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

#include <retrace/core/tape/recording.h>
#include <retrace/core/tensor/random.h>
#include <retrace/core/tensor/tensor.h>

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
/// y = x / divisor. A division, not a product with 1 / divisor: k c / c is k where k c is exact.
Tensor div(const Tensor& x, double divisor);
/// y = dividend / x.
Tensor div(double dividend, const Tensor& x);
/// y = a - b floor(a / b), element by element: what is left of a after whole b, with the sign of b, as in Python. The
/// gradient of b is -dy floor(a / b), the quotient being constant between its steps. NaN where b = 0; of i64, this
/// throws ValueError.
Tensor remainder(const Tensor& a, const Tensor& b);
/// y = -x.
Tensor neg(const Tensor& x);
/// y = factor x.
Tensor scale(const Tensor& x, double factor);
/// y = x + offset.
Tensor shift(const Tensor& x, double offset);
/// y = max(a, b), element by element. Where a = b, each gets half of the gradient. NaN if either is NaN.
Tensor maximum(const Tensor& a, const Tensor& b);
/// y = min(a, b), element by element. Where a = b, each gets half of the gradient. NaN if either is NaN.
Tensor minimum(const Tensor& a, const Tensor& b);
/// y = x^exponent. NaN for x < 0 unless the exponent is an integer.
Tensor pow(const Tensor& x, double exponent);
/// y = a^b, element by element. The gradient of b is dy y ln a, so it needs a > 0.
Tensor pow(const Tensor& a, const Tensor& b);
/// y = e^x.
Tensor exp(const Tensor& x);
/// y = ln x. -inf at 0, NaN for x < 0.
Tensor log(const Tensor& x);
/// y = a ln b, element by element, and 0 where a = 0, whatever b is (but not NaN). da = dy ln b, which is 0 where a = 0
/// and b <= 0; db = dy a / b, which is 0 where a = b = 0.
Tensor xlogy(const Tensor& a, const Tensor& b);
/// y = sqrt x. NaN for x < 0; the gradient at 0 is infinite.
Tensor sqrt(const Tensor& x);
/// y = x^2.
Tensor square(const Tensor& x);
/// y = |x|. The gradient at 0 is 0.
Tensor abs(const Tensor& x);
/// y = 1 / x.
Tensor reciprocal(const Tensor& x);
/// y = sin x, x in radians.
Tensor sin(const Tensor& x);
/// y = cos x, x in radians.
Tensor cos(const Tensor& x);
/// y in [-pi/2, pi/2] with sin y = x. NaN outside of [-1, 1], where the gradient at the ends is infinite, as in acos.
Tensor asin(const Tensor& x);
/// y in [0, pi] with cos y = x. NaN outside of [-1, 1].
Tensor acos(const Tensor& x);
/// y in [-pi/2, pi/2] with tan y = x.
Tensor atan(const Tensor& x);
/// The angle y in [-pi, pi] of the point (b, a), element by element: tan y = a / b, in the quadrant of the signs of a
/// and b, those of zeros included. The gradient at a = b = 0 is 0.
Tensor atan2(const Tensor& a, const Tensor& b);
/// y = erf x = 2 / sqrt(pi) times the integral of e^(-t^2) over t from 0 to x.
Tensor erf(const Tensor& x);
/// y = ln |Gamma(x)|, Gamma(n) being (n - 1)! for n = 1, 2, ... The gradient is dy digamma(x). At 0, -1, -2, ... y is
/// inf, and the gradient NaN, or infinite at 0.
Tensor lgamma(const Tensor& x);
/// y = ln(1 + x), accurate for small x. -inf at -1, NaN for x < -1.
Tensor log1p(const Tensor& x);
/// y = e^x - 1, accurate for small x.
Tensor expm1(const Tensor& x);
/// y = ln(x / (1 - x)), the inverse of sigmoid; -inf at 0, inf at 1, NaN outside of [0, 1]. With eps, x is clipped to
/// [eps, 1 - eps] first, and the gradient is 0 outside. Throws ValueError unless eps is in [0, 1/2].
Tensor logit(const Tensor& x, std::optional<double> eps = std::nullopt);
/// y = 1 where x > 0, -1 where x < 0, 0 at 0. The gradient is 0.
Tensor sign(const Tensor& x);
/// y = the largest whole number that is not above x. The gradient is 0, here and in ceil and round.
Tensor floor(const Tensor& x);
/// y = the smallest whole number that is not below x.
Tensor ceil(const Tensor& x);
/// y = the nearest whole number; halfway between two, the even one, as in PyTorch and NumPy: 0.5 -> 0, 1.5 -> 2.
Tensor round(const Tensor& x);
/// y = min(max(x, low), high). The gradient is dy where low < x < high, and 0 elsewhere. Throws ValueError if
/// low > high or either is NaN, or x is i64 and cannot hold a bound (-inf and inf are none).
Tensor clip(const Tensor& x, double low, double high);
/// y = a where condition is not 0, else b; all three broadcast. Throws DtypeError if condition is not i64.
Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b);
/// where with the number b in place of a tensor. Throws ValueError if a is i64 and cannot hold b.
Tensor where(const Tensor& condition, const Tensor& a, Scalar b);
/// where with the number a in place of a tensor. Throws ValueError if b is i64 and cannot hold a.
Tensor where(const Tensor& condition, Scalar a, const Tensor& b);
/// y = value where mask is not 0, else x. The mask broadcasts to x; dx is 0 where it is not 0. Throws DtypeError if the
/// mask is not i64, ShapeError if it has more elements than x.
Tensor masked_fill(const Tensor& x, const Tensor& mask, double value);
/// x converted to dtype; dx has the dtype of x. Returns x itself if that is its dtype. Conversion to i64 truncates
/// towards zero and has no gradient; it throws ValueError if an element is NaN, infinite or outside the range of i64.
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
inline Tensor operator/(const Tensor& x, double c) { return div(x, c); }
inline Tensor operator/(double c, const Tensor& x) { return div(c, x); }

// ---- comparisons and logic
// Masks: i64 tensors of 0 and 1, as where, masked_fill, masked_select and the masks of attention take them. They have
// no gradient and no record. Comparisons take real numbers and i64, and broadcast; NaN is not equal to anything, nor
// less or greater. A number b is rounded to the dtype of a first; an i64 tensor is compared with it exactly. There are
// no operators == and <: of two handles, they could mean several things.

/// y = [a = b], element by element: torch.eq, not torch.equal.
Tensor equal(const Tensor& a, const Tensor& b);
/// equal with a number.
Tensor equal(const Tensor& a, Scalar b);
/// y = [a != b].
Tensor not_equal(const Tensor& a, const Tensor& b);
/// not_equal with a number.
Tensor not_equal(const Tensor& a, Scalar b);
/// y = [a < b].
Tensor less(const Tensor& a, const Tensor& b);
/// less with a number.
Tensor less(const Tensor& a, Scalar b);
/// y = [a <= b].
Tensor less_equal(const Tensor& a, const Tensor& b);
/// less_equal with a number.
Tensor less_equal(const Tensor& a, Scalar b);
/// y = [a > b].
Tensor greater(const Tensor& a, const Tensor& b);
/// greater with a number.
Tensor greater(const Tensor& a, Scalar b);
/// y = [a >= b].
Tensor greater_equal(const Tensor& a, const Tensor& b);
/// greater_equal with a number.
Tensor greater_equal(const Tensor& a, Scalar b);
/// y = 1 where a and b are not 0, else 0; they broadcast. Throws DtypeError if either is not i64.
Tensor logical_and(const Tensor& a, const Tensor& b);
/// y = 1 where a or b is not 0, else 0; they broadcast. Throws DtypeError if either is not i64.
Tensor logical_or(const Tensor& a, const Tensor& b);
/// y = 1 where exactly one of a and b is not 0, else 0; they broadcast. Throws DtypeError if either is not i64.
Tensor logical_xor(const Tensor& a, const Tensor& b);
/// y = 1 where x is 0, else 0. Throws DtypeError if x is not i64.
Tensor logical_not(const Tensor& x);

// ---- activations
// Accurate to rounding error in both tails. A finite x gives a finite y (selu overflows above 95% of the largest), and
// an infinite one the limit of the formula, as its gradient is.

/// y = 1 / (1 + e^-x).
Tensor sigmoid(const Tensor& x);
/// y = tanh x = (e^x - e^-x) / (e^x + e^-x).
Tensor tanh(const Tensor& x);
/// y = max(x, 0). The gradient at 0 is 0.
Tensor relu(const Tensor& x);
/// y = x if x > 0, else slope x.
Tensor leaky_relu(const Tensor& x, double slope = 0.01);
/// y = x if x > 0, else alpha (e^x - 1) (Clevert, Unterthiner and Hochreiter, "Fast and accurate deep network learning
/// by exponential linear units (ELUs)", 2016). The gradient at 0 is alpha.
Tensor elu(const Tensor& x, double alpha = 1);
/// y = 1.0507 elu(x, 1.67326), with constants that keep mean 0 and variance 1 from layer to layer, to the precision of
/// the dtype (Klambauer et al., "Self-normalizing neural networks", 2017). The gradient at 0 is 1.0507 1.67326.
Tensor selu(const Tensor& x);
/// y = x Phi(x) with the standard normal distribution function Phi(x) = (1 + erf(x / sqrt(2))) / 2 (Hendrycks and
/// Gimpel, "Gaussian error linear units", 2016).
Tensor gelu(const Tensor& x);
/// y = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))): the approximation of gelu from the same paper, PyTorch's
/// approximate="tanh".
Tensor gelu_tanh(const Tensor& x);
/// y = x sigmoid(x), also known as swish.
Tensor silu(const Tensor& x);
/// y = silu(a) b for the two halves a, b of the last axis: x [..., 2 F] -> y [..., F] (Shazeer, "GLU variants improve
/// transformer", 2020). Throws ShapeError if the last axis is odd or x is 0-d.
Tensor swiglu(const Tensor& x);
/// y = x tanh(ln(1 + e^x)) (Misra, "Mish: a self regularized non-monotonic activation function", 2020).
Tensor mish(const Tensor& x);
/// y = ln(1 + e^x).
Tensor softplus(const Tensor& x);
/// y = ln sigmoid(x) = -ln(1 + e^-x).
Tensor log_sigmoid(const Tensor& x);

// ---- products

/// Whether 0 times NaN or an infinity is NaN, or 0. Strong zeros hide whatever they meet: a padded row whose gradient
/// is 0, or a value whose weight is 0.
enum class Zeros { ordinary, strong };
/// Which operands matmul transposes first, and its zeros.
struct MatmulOptions {
  bool transpose_a = false;       // exchange the last two axes of a, which must have rank 2 or more
  bool transpose_b = false;       // exchange the last two axes of b, which must have rank 2 or more
  Zeros zeros = Zeros::ordinary;  // in y and in both gradients
};
/// y = a b: a [..., n, k], b [..., k, m] -> y [..., n, m], as in NumPy. The leading axes broadcast. A vector a is a row
/// and a vector b a column; y does not have that axis. y is 0 if k = 0. Throws ShapeError if the inner lengths differ,
/// an operand is 0-d, or a vector is to be transposed.
Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions options = {});
/// The activation that linear and rnn_step apply to their result, element by element.
enum class Activation { none, relu, tanh, sigmoid, gelu, gelu_tanh };
/// y = f(x W^T + b) with the activation f: x [..., in], W [out, in], b [out] or undefined -> y [..., out]. A single
/// record, bit-identical to matmul, add and the activation. With strong zeros, rows of x whose y gets a gradient of 0
/// do not reach the gradient of W, NaN or not. Throws ShapeError if the shapes do not match these.
Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}, Activation activation = Activation::none,
              Zeros zeros = Zeros::ordinary);
/// y[i, j] = a[i] b[j]: a [n], b [m] -> y [n, m]. Throws ShapeError if an operand is not a vector.
Tensor outer(const Tensor& a, const Tensor& b);
/// Products and sums in Einstein's notation, as in NumPy: einsum("bhqd,bhkd->bhqk", {q, k}) multiplies elements with
/// equal letters and sums over the letters that y does not name. The equation has one group of letters per operand, one
/// letter per axis; "..." stands for any axes, which broadcast. A letter twice in one group takes the diagonal:
/// "ii->i". Without "->", y has the axes of "..." and then, in alphabetical order, the letters that occur once.
///
/// Composed of transposes, reshapes, products and sums, operand by operand from the left, in this order: give the
/// operands so that the products of the first ones are small. y may share the storage of an operand. Throws ValueError
/// if the equation is not one, names another number of operands, or y repeats a letter or names one that no operand
/// has; ShapeError if a group does not fit the rank of its operand, one letter has two lengths, or a product would have
/// more than 8 axes.
Tensor einsum(std::string_view equation, const Tensors& operands);

// ---- reductions

/// The axes to reduce: one, several or, by default, all.
class Axes {
 public:
  Axes() : all_(true) {}
  Axes(int axis) : list_{axis}, count_(1) {}
  Axes(std::initializer_list<int> axes) : Axes(std::span(axes.begin(), axes.size())) {}
  explicit Axes(std::span<const int> axes);
  /// Whether each axis k of x is reduced. Throws ShapeError, naming the function and x, if an axis does not exist or is
  /// named twice.
  std::array<bool, max_rank> flags(const Tensor& x, const char* function) const;

 private:
  std::array<int, max_rank> list_{};
  int count_ = 0;
  bool all_ = false;
};
/// The shape of the result of a reduction.
struct ReduceOptions {
  bool keepdims = false;  // keep reduced axes, with length 1
};
/// y = sum x over the axes. An empty sum is 0.
Tensor sum(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y = (sum x) / count over the axes. An empty mean is NaN.
Tensor mean(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y = max x over the axes. Elements that are equally large share the gradient evenly. NaN if any element is NaN.
/// Throws ShapeError if there is no element.
Tensor max(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y = min x over the axes; ties, NaN and errors as in max.
Tensor min(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y = mean((x - mean(x))^2) over the axes: the biased variance, in two passes. The variance of no elements is NaN.
Tensor var(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// var times n / (n - correction), n being the elements per set: 1 gives the unbiased variance, PyTorch's default.
/// Throws ValueError if the correction is negative, ShapeError if it is not 0 and n is not larger.
Tensor var(const Tensor& x, const Axes& axes, ReduceOptions options, double correction);
/// y = sqrt var x over the axes: the biased standard deviation. Where all elements are equal, y and the gradient are 0.
/// The deviation of no elements is NaN.
Tensor std(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// The square root of var with this correction; throws as it does.
Tensor std(const Tensor& x, const Axes& axes, ReduceOptions options, double correction);
/// std by a name that `using namespace retrace` does not make ambiguous with the namespace std.
Tensor standard_deviation(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// std with a correction.
Tensor standard_deviation(const Tensor& x, const Axes& axes, ReduceOptions options, double correction);
/// y = the product of x over the axes. The gradient is exact even where elements are 0. An empty product is 1.
Tensor prod(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y = ln sum e^x over the axes, computed with the maximum subtracted. If there are no elements or all are -inf, y is
/// -inf and the gradient 0.
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y = sqrt(sum x^2) over the axes. The gradient at the origin is 0.
Tensor norm(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y = (sum |x|^order)^(1 / order) over the axes; of order infinity the largest |x|, of -infinity the smallest, of 0
/// the number of elements that are not 0. Where an element or y is 0, its gradient is 0; equal extremes share it
/// evenly. Orders 0, 1 and the infinities are composed of other ops. Throws ValueError if the order is NaN, ShapeError
/// if it is infinite and there is no element.
Tensor norm(const Tensor& x, const Axes& axes, ReduceOptions options, double order);
/// y_k = x_0 + ... + x_k along the axis.
Tensor cumsum(const Tensor& x, int axis = -1);
/// y_k = x_0 x_1 ... x_k along the axis. The gradient is exact even where elements are 0.
Tensor cumprod(const Tensor& x, int axis = -1);
/// y_k = ln(e^x_0 + ... + e^x_k) along the axis, computed with the maximum so far subtracted. As long as all elements
/// are -inf, y is -inf and the gradient 0.
Tensor logcumsumexp(const Tensor& x, int axis = -1);
/// The index (i64, no gradient) of the first largest element along the axis; NaN counts as largest. Throws ShapeError
/// if the axis has length 0.
Tensor argmax(const Tensor& x, int axis = -1);
/// The index (i64, no gradient) of the first smallest element along the axis; NaN counts as smallest. Throws ShapeError
/// if the axis has length 0.
Tensor argmin(const Tensor& x, int axis = -1);
/// The number of elements over the axes that are not 0 (i64, no gradient), of a mask or of any tensor. NaN is not 0.
Tensor count_nonzero(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y = 1 if any element over the axes is not 0, else 0: any() of PyTorch. 0 of no elements.
Tensor any_nonzero(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});
/// y = 1 if no element over the axes is 0, else 0: all() of PyTorch. 1 of no elements.
Tensor all_nonzero(const Tensor& x, const Axes& axes = {}, ReduceOptions options = {});

// ---- softmax and normalisation

/// y = e^z / sum e^z along the axis, z = x + mask - max(x + mask). The mask broadcasts to x and gets no gradient; where
/// it is -inf, z is too, whatever x is. A row that is all -inf gives zeros and a zero gradient. Throws ShapeError if
/// the mask does not broadcast to x.
Tensor softmax(const Tensor& x, int axis = -1, const Tensor& mask = {});
/// y = z - ln sum e^z along the axis, z as in softmax. A row that is all -inf gives -inf and a zero gradient. Elements
/// of -inf are constants. Throws ShapeError if the mask does not broadcast to x.
Tensor log_softmax(const Tensor& x, int axis = -1, const Tensor& mask = {});
/// The axes that layer_norm normalises, and its eps.
struct LayerNormOptions {
  int axes = 1;       // the number of last axes that are normalised together
  double eps = 1e-5;  // added to the variance; 0 or more
};
/// y = (x - mean) / sqrt(var + eps) * gamma + beta over the last axes, with the biased variance (Ba, Kiros and Hinton,
/// "Layer normalization", 2016). gamma and beta have the shape of the normalised axes; each may be undefined. Throws
/// ShapeError if x has fewer axes or gamma or beta another shape, ValueError if eps < 0.
Tensor layer_norm(const Tensor& x, const Tensor& gamma = {}, const Tensor& beta = {}, LayerNormOptions options = {});
/// layer_norm(x + residual, gamma, beta, options) as a single record. Throws as layer_norm does, and ShapeError if x
/// and residual differ in shape.
Tensor residual_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gamma = {}, const Tensor& beta = {},
                           LayerNormOptions options = {});
/// y = x / sqrt(mean(x^2) + eps) * gamma over the last axis (Zhang and Sennrich, "Root mean square layer
/// normalization", 2019). gamma has the length of that axis, or is undefined. Throws ShapeError if it has another shape
/// or x is 0-d, ValueError if eps < 0.
Tensor rms_norm(const Tensor& x, const Tensor& gamma = {}, double eps = 1e-6);

// ---- shape

/// The elements of x, in row-major order, in another shape. y shares the storage of x. Throws ShapeError if the numbers
/// of elements differ.
Tensor reshape(const Tensor& x, const Shape& shape);
/// reshape with the extents as a list, of which one may be -1: reshape(x, {-1, 2}) has as many rows as x has elements
/// for. Throws ShapeError also if there is more than one -1, or the other extents do not divide the number of elements.
Tensor reshape(const Tensor& x, std::span<const std::int64_t> extents);
Tensor reshape(const Tensor& x, std::initializer_list<std::int64_t> extents);
/// Axis k of y is axis permutation[k] of x. Throws ShapeError unless the permutation names each axis once.
Tensor transpose(const Tensor& x, std::span<const int> permutation);
/// transpose with the permutation as a list: transpose(x, {0, 2, 1}).
Tensor transpose(const Tensor& x, std::initializer_list<int> permutation);
/// Exchanges the last two axes of x. Throws ShapeError if x has fewer than two.
Tensor transpose(const Tensor& x);
/// One entry of an index: an integer takes one position and drops the axis, a range keeps the axis, and new_axis
/// inserts one of length 1.
class SliceIndex {
 public:
  enum class Kind { integer, range, new_axis };
  template <class Integer>
  requires std::is_integral_v<Integer> SliceIndex(Integer position) : kind(Kind::integer), start(position) {}
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::min();
  SliceIndex(Kind k, std::int64_t from, std::int64_t to, std::int64_t by) : kind(k), start(from), stop(to), step(by) {}

  Kind kind;
  std::int64_t start = none;
  std::int64_t stop = none;
  std::int64_t step = 1;
};
/// start:stop:step as in Python: both ends are clamped to the axis, negative positions count from its end, and
/// SliceIndex::none leaves an end open.
SliceIndex range(std::int64_t start = SliceIndex::none, std::int64_t stop = SliceIndex::none, std::int64_t step = 1);
/// A whole axis: the ":" of Python.
inline const SliceIndex all{SliceIndex::Kind::range, SliceIndex::none, SliceIndex::none, 1};
/// A new axis of length 1: NumPy's newaxis.
inline const SliceIndex new_axis{SliceIndex::Kind::new_axis, 0, 0, 1};
/// y = x[index]; axes without an entry are taken whole. Rows of the first axis share the storage of x, other parts are
/// copied. Throws IndexError if an integer is outside its axis, ShapeError if there are more entries than axes,
/// ValueError if a step is 0.
Tensor slice(const Tensor& x, std::span<const SliceIndex> index);
/// slice with the index as a list: slice(x, {all, range(0, 2), -1}) is x[:, 0:2, -1].
Tensor slice(const Tensor& x, std::initializer_list<SliceIndex> index);
/// Joins the parts along an existing axis: [.., n_i, ..] -> [.., sum n_i, ..]. Throws ShapeError if there is no part or
/// another extent differs.
Tensor concat(const Tensors& parts, int axis = 0);
/// Joins k parts of equal shape along a new axis of length k. Throws ShapeError if there is no part or the shapes
/// differ.
Tensor stack(const Tensors& parts, int axis = 0);
/// The consecutive parts of x of the given sizes along the axis. Throws ShapeError if a size is negative or their sum
/// is not the length of the axis.
Tensors split(const Tensor& x, std::span<const std::int64_t> sizes, int axis = 0);
/// split with the sizes as a list: split(x, {2, 3}).
Tensors split(const Tensor& x, std::initializer_list<std::int64_t> sizes, int axis = 0);
/// Removes an axis of length 1. Throws ShapeError if it has another length.
Tensor squeeze(const Tensor& x, int axis);
/// Inserts an axis of length 1, which becomes this axis of y (-1: the last).
Tensor unsqueeze(const Tensor& x, int axis);
/// Repeats x along axes of length 1 and along new leading axes, as NumPy's broadcast_to; dx sums over them. Throws
/// ShapeError if x does not broadcast to the shape.
Tensor broadcast_to(const Tensor& x, const Shape& shape);
/// Reverses the order of the elements along the axis: y_k = x_(n - 1 - k).
Tensor flip(const Tensor& x, int axis);
/// The number of zeros before and after the elements of one axis; negative: of elements to cut off.
struct Padding {
  std::int64_t before = 0;
  std::int64_t after = 0;
};
/// Adds zeros around x, one Padding per axis: [n, ...] -> [before + n + after, ...]. What is cut off is cut before
/// zeros are added. Throws ShapeError if their number is not the rank of x, or more than n elements are cut off.
Tensor pad(const Tensor& x, std::span<const Padding> padding);
/// pad with the padding as a list: pad(x, {{0, 0}, {1, 2}}).
Tensor pad(const Tensor& x, std::initializer_list<Padding> padding);
/// x side by side with itself, counts[k] times along axis k of y, as Tensor.repeat of PyTorch and tile of NumPy; more
/// counts than axes add leading axes: x [n, m], counts {c, d, e} -> y [c, d n, e m]. dx sums over the copies. (NumPy's
/// repeat repeats each element: take with repeated ids does.) Throws ShapeError if there are fewer counts than axes, or
/// one is negative.
Tensor repeat(const Tensor& x, std::span<const std::int64_t> counts);
/// repeat with the counts as a list: repeat(x, {2, 1}).
Tensor repeat(const Tensor& x, std::initializer_list<std::int64_t> counts);
/// Moves the elements along the axis by shift places, those pushed out coming in again at the other end: y_k =
/// x_((k - shift) mod n). Returns x itself if none moves.
Tensor roll(const Tensor& x, std::int64_t shift, int axis);
/// y[..., i, j] = x[..., i, j] where j <= i + diagonal, else 0: the lower triangles of the matrices x [..., n, m].
/// Throws ShapeError if x has fewer than two axes.
Tensor tril(const Tensor& x, std::int64_t diagonal = 0);
/// y[..., i, j] = x[..., i, j] where j >= i + diagonal, else 0: the upper triangles of the matrices x [..., n, m].
/// Throws ShapeError if x has fewer than two axes.
Tensor triu(const Tensor& x, std::int64_t diagonal = 0);
/// The diagonals of the matrices x [..., n, m]: y[..., i] = x[..., i, i + offset], or x[..., i - offset, i] if offset <
/// 0. Of length 0 if that diagonal is outside. Throws ShapeError if x has fewer than two axes.
Tensor diagonal(const Tensor& x, std::int64_t offset = 0);
/// Square matrices of zeros with x [..., n] on their diagonals: diagonal(y, offset) is x; y [..., s, s], s = n +
/// |offset|. Throws ShapeError if x is 0-d.
Tensor diag_embed(const Tensor& x, std::int64_t offset = 0);
/// As torch.diag: diag_embed(x, offset) of a vector, diagonal(x, offset) of a matrix. Throws ShapeError if x is
/// neither.
Tensor diag(const Tensor& x, std::int64_t offset = 0);

// ---- indexing
// Throws DtypeError if ids is not i64, IndexError (with position and value) if an id is not in [0, length of the axis).
// The gradients of repeated ids add up.

/// y[.., j, ..] = x[.., ids[j], ..] along the axis, for ids [n]; 0-d ids drop the axis. Throws ShapeError if ids has a
/// higher rank.
Tensor take(const Tensor& x, const Tensor& ids, int axis = 0);
/// y[.., j, ..] = x[.., ids[.., j, ..], ..] along the axis, as in PyTorch. y has the shape of ids. Throws ShapeError if
/// the shapes of x and ids differ along another axis.
Tensor gather(const Tensor& x, const Tensor& ids, int axis = -1);
/// The row of embedding that stands for padding.
struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = std::nullopt;  // gets no gradient; negative: counted from the last row
};
/// y[..., :] = table[ids[...], :]: table [count, features], ids [...] -> y [..., features]. Throws ShapeError if the
/// table is not a matrix, IndexError if padding_idx is no row of it.
Tensor embedding(const Tensor& table, const Tensor& ids, const EmbeddingOptions& options = {});
/// y[b..., r...] = x[i_0[b...], i_1[b...], ..., r...]: as x[i_0, i_1, ...] of NumPy with tensors of ids, which
/// broadcast to [b...], for the first axes of x. An id may be negative: -1 is the last position. Throws ShapeError if
/// there are no ids or more than axes, or they do not broadcast, IndexError if an id is outside its axis.
Tensor index(const Tensor& x, const Tensors& ids);
/// y = x, then y[.., ids[.., j, ..], ..] = updates[.., j, ..] along the axis, as in PyTorch. Where ids repeat within a
/// line along the axis, the last one counts, and the others have no gradient. Throws ShapeError if ids and updates
/// differ in shape, or differ from x along another axis.
Tensor scatter(const Tensor& x, const Tensor& ids, const Tensor& updates, int axis = 0);
/// y = x, then y[.., ids[j], ..] += updates[.., j, ..] along the axis for ids [k], which is PyTorch's index_add; or,
/// for ids with the shape of the updates, y[.., ids[.., j, ..], ..] += updates[.., j, ..], its scatter_add. Throws
/// ShapeError if the shapes match neither, or updates and x differ along another axis.
Tensor scatter_add(const Tensor& x, const Tensor& ids, const Tensor& updates, int axis = 0);

// ---- sorting and selection

/// The order of sort and argsort.
struct SortOptions {
  bool descending = false;  // the largest first
};
/// Which elements topk takes.
struct TopkOptions {
  bool largest = true;  // or the smallest
};
/// The result of sort, topk, cummax, cummin and median.
struct SortResult {
  Tensor values;
  Tensor indices;  // i64: values are gather(x, indices, axis), for median without the axis
};
/// The elements along the axis in order. Equal ones keep theirs, and NaN counts as largest, as in PyTorch. Gradients go
/// back to where the values came from.
SortResult sort(const Tensor& x, int axis = -1, SortOptions options = {});
/// The indices of sort (i64, no gradient).
Tensor argsort(const Tensor& x, int axis = -1, SortOptions options = {});
/// The k largest or smallest elements along the axis, in order: the first k of sort, descending for the largest. NaN
/// counts as largest. Throws ShapeError if k is not in [0, length of the axis].
SortResult topk(const Tensor& x, std::int64_t k, int axis = -1, TopkOptions options = {});
/// The largest element so far, at each place along the axis, and its position, the last one of equal elements. NaN
/// counts as largest.
SortResult cummax(const Tensor& x, int axis = -1);
/// The smallest element so far, at each place along the axis, and its position, the last one of equal elements. NaN
/// counts as smallest.
SortResult cummin(const Tensor& x, int axis = -1);
/// The middle of the sorted elements along the axis, of an even number the lower of the two, as in PyTorch, and its
/// position. NaN if any element is NaN. Throws ShapeError if the axis has length 0.
SortResult median(const Tensor& x, int axis = -1);
/// The sorted elements along the axis at the place q (n - 1), between two of them by linear interpolation: 0.5 is the
/// median, with the mean of the two in the middle of an even number. NaN if any element is NaN. Gradients go back to
/// where the elements came from. Throws ValueError unless q is in [0, 1], ShapeError if the axis has length 0.
Tensor quantile(const Tensor& x, double q, int axis = -1);
/// The positions of the elements of x that are not 0, in row-major order: y [count, rank of x] (i64, no gradient).
Tensor nonzero(const Tensor& x);
/// The elements of x where the mask is not 0, in row-major order: y [count]. x and mask broadcast. The gradient is 0
/// where the mask is. Throws DtypeError if the mask is not i64.
Tensor masked_select(const Tensor& x, const Tensor& mask);

// ---- losses

/// How the losses l are reduced to y: their mean, their sum, or not at all.
enum class Reduction { mean, sum, none };
/// The reduction of cross_entropy and nll, the label that they ignore, and what replaces the labels.
struct CrossEntropyOptions {
  Reduction reduction = Reduction::mean;
  std::optional<std::int64_t> ignore_index = std::nullopt;  // rows with this label have no loss and are not counted
  double label_smoothing = 0;  // e in [0, 1]: the target of class c is (1 - e) t_c + e / C, t_c being 1 for the label
  Tensor class_weights = {};   // w [C]: the loss of class c counts w_c times. They get no gradient
};
/// l = -log_softmax(x)[t] for logits x [..., C] and labels t [...] (i64), or l = -sum_c t_c log_softmax(x)_c for soft
/// targets t [..., C]. If every row is ignored, the mean is 0 with gradient 0. Throws ShapeError if the targets have
/// another shape, IndexError (with position and value) if a label is not in [0, C) and not ignore_index.
///
/// With label smoothing or class weights, l = -sum_c w_c q_c log_softmax(x)_c for the smoothed targets q, and the mean
/// of labels divides by the sum of the w_t, that of soft targets by the number of rows, as in PyTorch. These are
/// composed of other ops. Throws ValueError if label_smoothing is not in [0, 1], ShapeError if class_weights is not
/// [C].
Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options = {});
/// l = -logp[t] for log-probabilities logp [..., C] and labels t [...] (i64). Label smoothing, class weights and errors
/// are those of cross_entropy. Throws DtypeError if the targets are not i64.
Tensor nll(const Tensor& log_probabilities, const Tensor& targets, CrossEntropyOptions options = {});
/// l = (x - t)^2. Throws ShapeError if the shapes differ; they do not broadcast.
Tensor mse(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
/// l = -t ln sigmoid(x) - (1 - t) ln(1 - sigmoid(x)), computed as x (1 - t) for x >= 0 and -x t for x < 0,
/// plus ln(1 + e^-|x|). For an infinite x it is the limit: 0 if the prediction is right. Throws ShapeError if the
/// shapes differ; they do not broadcast.
Tensor bce_with_logits(const Tensor& logits, const Tensor& target, Reduction reduction = Reduction::mean);
/// The reduction of bce_with_logits, and the weight of positives.
struct BceWithLogitsOptions {
  Reduction reduction = Reduction::mean;
  Tensor pos_weight = {};  // p, broadcasts to x; more than 1 raises recall, less than 1 precision
};
/// bce_with_logits whose positives count p times: l = -p t ln sigmoid(x) - (1 - t) ln(1 - sigmoid(x)), composed of
/// other ops. Throws ShapeError also if p does not broadcast to x.
Tensor bce_with_logits(const Tensor& logits, const Tensor& target, const BceWithLogitsOptions& options);
/// l = -t max(ln x, -100) - (1 - t) max(ln(1 - x), -100) for probabilities x: PyTorch's binary_cross_entropy. The
/// gradient of a logarithm below -100 is 0. NaN outside [0, 1]. (bce_with_logits is exact where x rounds to 0 or 1.)
/// Throws ShapeError if the shapes differ; they do not broadcast.
Tensor bce(const Tensor& probabilities, const Tensor& target, Reduction reduction = Reduction::mean);
/// The reduction of gaussian_nll, the least variance, and whether l contains its constant.
struct GaussianNllOptions {
  Reduction reduction = Reduction::mean;
  bool full = false;  // add ln(2 pi) / 2
  double eps = 1e-6;  // 0 or more
};
/// l = (ln v + (x - t)^2 / v) / 2, v = max(variance, eps): the negative log-likelihood of t under a normal
/// distribution with mean x. The variance broadcasts to x; its gradient is 0 where it is not above eps. NaN for a
/// negative variance. Throws ShapeError if x and t differ in shape or the variance does not broadcast to x, ValueError
/// if eps is negative.
Tensor gaussian_nll(const Tensor& x, const Tensor& target, const Tensor& variance,
                    const GaussianNllOptions& options = {});
/// The reduction of poisson_nll, what its x is, and whether l contains the term of the target.
struct PoissonNllOptions {
  Reduction reduction = Reduction::mean;
  bool log_input = true;  // x is the logarithm of the rate; otherwise the rate: l = x - t ln(x + eps)
  bool full = false;      // add Stirling's approximation of ln t!, t ln t - t + ln(2 pi t) / 2, where t > 1
  double eps = 1e-8;
};
/// l = e^x - t x: the negative log-likelihood of the count t under a Poisson distribution, without ln t!. Throws
/// ShapeError if the shapes differ; they do not broadcast.
Tensor poisson_nll(const Tensor& x, const Tensor& target, const PoissonNllOptions& options = {});
/// d = x - t, l = d^2 / (2 beta) where |d| < beta, else |d| - beta / 2: PyTorch's smooth_l1_loss. beta = 0 gives l =
/// |d|, with gradient 0 at 0. Throws ShapeError if the shapes differ, ValueError if beta is negative or not finite.
Tensor smooth_l1(const Tensor& x, const Tensor& target, double beta = 1, Reduction reduction = Reduction::mean);
/// l = d^2 / 2 where |d| < delta, else delta (|d| - delta / 2), which is delta times smooth_l1 with beta = delta
/// (Huber, "Robust estimation of a location parameter", 1964). Throws as smooth_l1 does, and ValueError if delta is 0.
Tensor huber(const Tensor& x, const Tensor& target, double delta = 1, Reduction reduction = Reduction::mean);
/// The reduction of kl_divergence, and what its target is.
struct KlDivergenceOptions {
  Reduction reduction = Reduction::mean;
  bool log_target = false;  // t holds logarithms of probabilities: l = e^t (t - x)
};
/// l = t (ln t - x), element by element, for log-probabilities x [..., C] and probabilities t: the parts of the
/// divergence of t from e^x (Kullback and Leibler, "On information and sufficiency", 1951). A probability of 0 gives
/// l = 0 with gradient 0. The mean is the sum divided by the number of rows [...], PyTorch's "batchmean" for a matrix;
/// its "mean" also divides by C. Throws ShapeError if the shapes differ; they do not broadcast.
Tensor kl_divergence(const Tensor& log_probabilities, const Tensor& target, KlDivergenceOptions options = {});

/// The reduction of ctc, the class that stands for no label, and the loss of a sample that cannot be aligned.
struct CtcOptions {
  Reduction reduction = Reduction::mean;  // the mean divides the loss of each sample by its number of labels, or by 1
  std::int64_t blank = 0;
  bool zero_infinity = false;  // 0 in place of infinity
};
/// Connectionist temporal classification, PyTorch's ctc_loss (Graves et al., "Connectionist temporal classification:
/// labelling unsegmented sequence data with recurrent neural networks", 2006):
///   l = -ln of the sum over all paths a of e^(x[0, a_0] + x[1, a_1] + ...),
/// where a path has a class for each step and reads as the labels once repeated classes become one and then blanks are
/// left out. x [..., T, C] holds log-probabilities, targets [..., S] (i64) the labels, the first target_lengths [...]
/// (i64) of them, for the first input_lengths [...] (i64) steps; what is after these is not read. If there is no path
/// (too few steps), l is infinite, or 0 with zero_infinity, with gradient 0.
///
/// dx is the derivative: minus the share of the paths that are in a class. (PyTorch adds e^x, which the backward of
/// log_softmax removes again.) Throws ShapeError if the shapes do not match these, IndexError if a length is not in
/// [0, T] or [0, S], the blank not in [0, C), or (with position) a label not in [0, C) or the blank.
Tensor ctc(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
           const Tensor& target_lengths, const CtcOptions& options = {});

// The margin losses, all composed of other ops. A target t is 1 or -1, as i64 or as real numbers, and gets no gradient;
// ValueError (with position and value) if it is neither. Where max(0, z) has z = 0, the gradient is 0.

/// l = x where t = 1, max(0, margin - x) where t = -1. Throws ShapeError if the shapes differ; they do not broadcast.
Tensor hinge_embedding(const Tensor& x, const Tensor& target, double margin = 1, Reduction reduction = Reduction::mean);
/// l = max(0, margin - t (a - b)): a is to be larger than b where t = 1, smaller where t = -1. Throws ShapeError if the
/// shapes differ; they do not broadcast.
Tensor margin_ranking(const Tensor& a, const Tensor& b, const Tensor& target, double margin = 0,
                      Reduction reduction = Reduction::mean);
/// l = ln(1 + e^(-t x)). Throws ShapeError if the shapes differ; they do not broadcast.
Tensor soft_margin(const Tensor& x, const Tensor& target, Reduction reduction = Reduction::mean);
/// The reduction, power and margin of multi_margin, and its weights.
struct MultiMarginOptions {
  Reduction reduction = Reduction::mean;
  int power = 1;  // or 2
  double margin = 1;
  Tensor class_weights = {};  // w [C]: the loss of a row with label t counts w_t times. They get no gradient
};
/// l = (sum over c other than t of max(0, margin - x[t] + x[c])^power) / C for scores x [..., C] and labels t [...]
/// (i64). The mean is over the rows, weighted or not, as in PyTorch. Throws ShapeError if the targets have another
/// shape or class_weights is not [C], IndexError (with position and value) if a label is not in [0, C), ValueError if
/// the power is neither 1 nor 2.
Tensor multi_margin(const Tensor& x, const Tensor& targets, const MultiMarginOptions& options = {});
/// l = 1 - cos(a, b) where t = 1, max(0, cos(a, b) - margin) where t = -1, for vectors a, b [..., D] and t [...], with
/// cos(a, b) = a b / (max(|a|, 1e-6) max(|b|, 1e-6)). Throws ShapeError if the shapes do not match these.
Tensor cosine_embedding(const Tensor& a, const Tensor& b, const Tensor& target, double margin = 0,
                        Reduction reduction = Reduction::mean);
/// The reduction and the distances of triplet_margin.
struct TripletMarginOptions {
  Reduction reduction = Reduction::mean;
  double margin = 1;
  double eps = 1e-6;
  bool swap = false;  // take min(d(a, n), d(p, n)) for d(a, n) (Balntas et al., 2016)
};
/// l = max(0, d(a, p) - d(a, n) + margin), d(u, v) = |u - v + eps|, for an anchor a, a positive p and a negative n, all
/// [..., D] (Schroff, Kalenichenko and Philbin, "FaceNet", 2015). Throws ShapeError if the shapes differ; they do not
/// broadcast.
Tensor triplet_margin(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                      const TripletMarginOptions& options = {});

// ---- attention

/// Where causal attention ends if there are not as many queries as keys: the last query sees every key, as when the
/// queries follow earlier ones, or the first query sees the first key only. (Corners of the triangle of weights.)
enum class CausalCorner { lower_right, upper_left };
/// The heads of attention and the keys that each query sees.
///
/// The mask is either added to the scores, or i64: a key is hidden where the mask is 0. It broadcasts to [batch...,
/// heads, Lq, Lk] by NumPy's rule, aligned from the right, for any number of heads, also one: [Lq, Lk] is a mask for
/// all, [heads, Lq, Lk] one for each head, [batch..., 1, Lq, Lk] one for each sample. With one head, whose weights have
/// no axis of heads, the mask may leave it out, too. An additive mask that wants a gradient, such as learned position
/// biases, gets it.
struct AttentionOptions {
  int heads = 1;                     // the number of heads of q, side by side in the last axis
  bool causal = false;               // query i sees keys 0 to i + Lk - Lq only, or those of `corner`
  Tensor mask = {};                  // broadcasts to [batch..., heads, Lq, Lk]
  std::optional<double> scale = {};  // the factor of q k^T; nothing: 1 / sqrt(d)
  // The number of heads of k and v, each for heads / key_heads heads of q in turn; 0: as many as q's.
  int key_heads = 0;
  CausalCorner corner = CausalCorner::lower_right;
};
/// The result of attention, with its weights.
struct AttentionResult {
  Tensor y;
  Tensor weights;  // [..., heads, Lq, Lk]; [..., Lq, Lk] for one head
};
/// w = softmax(q k^T / sqrt(d) + mask), y = w v in each head, d being the features of one head (Vaswani et al.,
/// "Attention is all you need", 2017). q [..., Lq, heads d], k [..., Lk, key_heads d], v [..., Lk, key_heads e] -> y
/// [..., Lq, heads e]. Fewer heads of k and v than of q (Ainslie et al., "GQA: training generalized multi-query
/// transformer models from multi-head checkpoints", 2023) are read in place, not repeated. A query that sees no key
/// gives zeros. With a mask of -inf or 0, or causal, zeros of weights and gradients are strong: a hidden
/// key and its value reach no query, and a query whose y gets a gradient of 0 changes no other gradient, whatever they
/// hold.
/// Throws ShapeError if the shapes do not match these, the mask does not broadcast, or the heads do not divide the
/// features, ValueError if the scale is not finite.
///
/// With more than 32,768 weights per head, attention does not store w: it computes a few queries at a time, and again
/// in backward. It then saves the mask, which must not be modified before backward. (With a mask that wants a gradient
/// it stores them.)
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});
/// attention that also returns w, which is stored for any length and has a gradient. Throws as attention does.
AttentionResult attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionOptions& options = {});

/// [..., T, D] -> [..., heads, T, D / heads]: head h gets columns h D / heads to (h + 1) D / heads. Throws ShapeError
/// if x has fewer than two axes or the heads do not divide D.
Tensor split_heads(const Tensor& x, int heads);
/// The inverse of split_heads: [..., heads, T, d] -> [..., T, heads d]. Throws ShapeError if x has fewer than three
/// axes.
Tensor combine_heads(const Tensor& x);
/// An additive mask [queries, keys]: 0 where query i sees key j, that is j <= i + keys - queries, and -inf elsewhere.
/// Throws ShapeError if a length is negative, DtypeError for i64.
Tensor causal_mask(std::int64_t queries, std::int64_t keys, Dtype dtype = default_dtype());
/// causal_mask(length, length): 0 on and below the diagonal, -inf above.
Tensor causal_mask(std::int64_t length, Dtype dtype = default_dtype());
/// An additive mask [B, 1, 1, time] for samples of different lengths ([B], i64): 0 for keys j < length, -inf for the
/// padding after them. Add it to a causal_mask to apply both. Throws ShapeError if lengths is not an i64 vector,
/// IndexError if a length is not in [0, time], DtypeError if dtype is i64.
Tensor padding_mask(const Tensor& lengths, std::int64_t time, Dtype dtype = default_dtype());
/// Which features rotary positions turn together: (0, 1), (2, 3), ... as in the paper, or (0, d/2), (1, d/2 + 1), ...
/// as in GPT-NeoX and the LLaMA of Hugging Face.
enum class RotaryPairs { adjacent, halves };
/// The heads of rotary, and the angles by which it turns.
struct RotaryOptions {
  int heads = 1;           // side by side in the last axis
  std::int64_t first = 0;  // the position of step 0
  double base = 10000;
  RotaryPairs pairs = RotaryPairs::adjacent;
  std::int64_t size = 0;  // d: the first features of a head turn; 0: all
  Tensor positions = {};  // of the steps, i64, broadcasts to [..., T]: first + positions in place of first + t
  Tensor cosines = {};    // [positions, d / 2]: row m holds the cosines of position m, in place of base
  Tensor sines = {};      // likewise
};
/// Turns pair i of the d features of each head of step t by the angle m base^(-2i / d), m = first + t:
///   (a, b) -> (a cos - b sin, a sin + b cos),
/// so that products of queries and keys depend on the distance of their positions alone (Su et al., "RoFormer: enhanced
/// transformer with rotary position embedding", 2021). x is [..., T, heads d]. Other features of a head stay as they
/// are; positions and tables get no gradient. Throws ShapeError if x has fewer than two axes, the heads do not divide
/// its last one into even numbers of features, size is odd or more than these, positions do not broadcast, or the
/// tables are not two of d / 2 columns; IndexError if they have no row m; ValueError unless the base is finite and
/// positive.
Tensor rotary(const Tensor& x, const RotaryOptions& options = {});

/// The order of q, k and v in the columns of a row: by head [q1 k1 v1 q2 k2 v2 ...], or by kind, all heads' q, then all
/// heads' k, then all heads' v.
enum class PackedLayout { by_head, by_kind };
/// The layout of packed_attention; causal and mask as in AttentionOptions.
struct PackedAttentionOptions {
  int heads = 1;
  std::int64_t key_size = 0;  // of q and of k in one head; the remaining columns hold v
  PackedLayout layout = PackedLayout::by_kind;
  std::int64_t queries = 0;  // the number of first rows that are queries; 0: all
  bool causal = false;
  Tensor mask = {};
};
/// Self-attention of the rows of qkv [..., L, heads (2 key_size + value_size)] -> y [..., queries, heads value_size],
/// without copying q, k and v out of qkv. Throws ShapeError if the columns do not divide into these, there are fewer
/// rows than queries, or the mask does not broadcast.
Tensor packed_attention(const Tensor& qkv, const PackedAttentionOptions& options);
/// packed_attention that also returns the weights, which are stored for any length. Throws as packed_attention does.
AttentionResult packed_attention_with_weights(const Tensor& qkv, const PackedAttentionOptions& options);

// ---- recurrent layers
// `projected` p [B, T, gates H] holds W x + b of every step, computed as one product ([B, gates H] for a single step);
// U [gates H, H] is `weight`, the recurrent weight, with the rows of each gate together. h and c [B, H] are the initial
// state and must be defined. `lengths` [B] (i64; undefined: all T) gives the number of steps of each sample, which
// keeps its state afterwards. A sequence is a single record; with expand_fused its steps are composed of other ops. It
// computes in the memory of `projected` where that is moved into it.
//
// A sequence throws ShapeError if the shapes do not match these or lengths is not i64, IndexError if a length is not in
// [0, T].

/// The state after one step of an LSTM.
struct LstmStep {
  Tensor h, c;  // [B, H]
};
/// The result of lstm_sequence.
struct LstmSequence {
  Tensor y;     // [B, T, H]: h after every step
  Tensor h, c;  // [B, H]: after the last step
};
/// i, f, o = sigmoid(p + U h), g = tanh(p + U h), c' = f c + i g, h' = o tanh c'; gates in the order i, f, g, o, as in
/// PyTorch (Hochreiter and Schmidhuber, "Long short-term memory", 1997; forget gate: Gers et al., 2000).
LstmStep lstm_step(const Tensor& projected, const Tensor& h, const Tensor& c, const Tensor& weight);
/// lstm_step for t = 0 to T - 1, from h and c.
LstmSequence lstm_sequence(Tensor projected, const Tensor& h, const Tensor& c, const Tensor& weight,
                           const Tensor& lengths = {});
/// The result of gru_sequence and rnn_sequence.
struct RnnSequence {
  Tensor y;  // [B, T, H]: h after every step
  Tensor h;  // [B, H]: after the last step
};
/// Whether the reset gate of a GRU multiplies U h + b, as in PyTorch, or the h of that product, as in the paper.
enum class GruReset { after_product, before_product };
/// q = U h + b, r, z = sigmoid(p + q), n = tanh(p + r q), h' = (1 - z) n + z h; gates in the order r, z, n. The GRU
/// (Cho et al., 2014) as PyTorch computes it: with a bias b [3H] of its own inside the reset gate's product; undefined:
/// zeros. With the reset gate before the product, n = tanh(p + U (r h) + b), composed of other ops.
Tensor gru_step(const Tensor& projected, const Tensor& h, const Tensor& weight, const Tensor& bias,
                GruReset reset = GruReset::after_product);
/// gru_step for t = 0 to T - 1, from h.
RnnSequence gru_sequence(Tensor projected, const Tensor& h, const Tensor& weight, const Tensor& bias,
                         const Tensor& lengths = {}, GruReset reset = GruReset::after_product);
/// h' = f(p + U h) with the activation f (Elman, "Finding structure in time", 1990).
Tensor rnn_step(const Tensor& projected, const Tensor& h, const Tensor& weight,
                Activation activation = Activation::tanh);
/// rnn_step for t = 0 to T - 1, from h. Throws ValueError if the activation is neither tanh nor relu.
RnnSequence rnn_sequence(Tensor projected, const Tensor& h, const Tensor& weight,
                         Activation activation = Activation::tanh, const Tensor& lengths = {});

// ---- memory

/// The biases of the gates of gated_memory, and whether there is one gate or two.
struct GatedMemoryOptions {
  Tensor input_bias = {};   // b_i [], or undefined: 0
  Tensor forget_bias = {};  // b_f [], or undefined: 0
  bool coupled = false;     // f = 1 - i, and there is no z_f
};
/// The result of gated_memory.
struct GatedMemoryResult {
  Tensor memory;       // [..., N, S]
  Tensor input_gate;   // i
  Tensor forget_gate;  // f; undefined if coupled
};
/// z = p + q, i = sigmoid(z_i + b_i), f = sigmoid(z_f + b_f), m' = i tanh c + f m: the gated update of a memory m
/// [..., N, S], as in the relational memory core (Santoro et al., "Relational recurrent neural networks", 2018). The
/// first N rows of the candidate [..., N or more, S] are c. gates_of_memory p is [..., N, 2S], z_i beside z_f, with a
/// gate per unit, or [..., N, 2] with a gate per slot; gates_of_input q, [..., 2S] or [..., 2], is added to every slot.
/// If coupled, S and 1 take the place of 2S and 2. Throws ShapeError if the shapes do not match these, ValueError if
/// coupled gates get a forget_bias.
GatedMemoryResult gated_memory(const Tensor& memory, const Tensor& candidate, const Tensor& gates_of_memory,
                               const Tensor& gates_of_input, const GatedMemoryOptions& options = {});

// ---- dropout

/// y = x m, where m is 0 with the given probability, else 1 / (1 - probability), element by element (Srivastava et al.,
/// 2014). Returns x itself if random is null, as in evaluation. Throws ValueError if the probability is not in [0, 1].
Tensor dropout(const Tensor& x, double probability, Random* random);

// ---- your own ops

/// How a custom op can be checked.
struct CustomOpOptions {
  bool differences_only = false;  // the op does not run on dual numbers, because it reads values<double>()
  bool surrogate = false;         // backward is not meant to be the derivative of forward, so no trace checks it
};
/// Computes y from the inputs. Nothing that it does is recorded.
using CustomForward = std::function<Tensor(const Tensors& inputs)>;
/// Returns one gradient per input, computed from dy, the inputs and y; an undefined tensor stands for no gradient.
using CustomBackward = std::function<Tensors(const Tensor& dy, const Tensors& inputs, const Tensor& y)>;
/// y = forward(inputs), recorded under the name: prints, traces and gradcheck treat it like any other op. jvp, hvp and
/// the exact check of gradcheck pass dual numbers, so compute with ops or dispatch on the dtype. If that is impossible,
/// set differences_only: gradcheck then omits its exact check and says so, and dual inputs throw DifferencesOnlyError.
/// trace_backward() runs forward again, in f64 and on dual numbers, to check what backward sent.
/// Throws ValueError if a function is empty, forward returns an undefined tensor, or (in backward) the number of
/// gradients is not that of the inputs; DtypeError if forward does not run on dual numbers.
Tensor custom_op(std::string_view name, const Tensors& inputs, CustomForward forward, CustomBackward backward,
                 CustomOpOptions options = {});

/// Gets the gradient that arrives, and returns the one that goes on; undefined: the same.
using GradientHook = std::function<Tensor(const Tensor& dy)>;
/// y = x, dx = hook(dy): sees or changes a gradient on its way back. The hook is called in each backward that reaches
/// y; what it computes is not recorded. Gradient reversal (Ganin and Lempitsky, 2015) is
///   on_gradient(x, [](const Tensor& dy) { return -dy; })
/// Throws ValueError if the hook is empty; ShapeError or DtypeError in the backward if its result does not fit x.
Tensor on_gradient(const Tensor& x, GradientHook hook);

}  // namespace retrace
