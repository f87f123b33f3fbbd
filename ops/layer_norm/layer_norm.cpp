#include <algorithm>
#include <cmath>
#include <utility>

#include <retrace/core/base/parallel.h>
#include <retrace/core/tape/attribute.h>
#include <retrace/core/tensor/dual.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/formula.h>
#include <retrace/ops/loops/hidden_row.h>
#include <retrace/ops/loops/operands.h>
#include <retrace/ops/loops/ordered_sum.h>
#include <retrace/ops/loops/rescaled.h>
#include <retrace/ops/ops.h>

namespace retrace {

// n = (x - mean x) / sqrt(var x + eps), y = n gamma + beta of each row; with a residual, of x + residual.
template <class T> void plain::layer_norm(const LayerNormRows<T>& args) {
  using std::sqrt;
  const T count = static_cast<T>(static_cast<double>(args.length));
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const T* x = args.x + row * args.length;
    if (args.residual != nullptr) {
      T* sum = args.sum + row * args.length;
      for (std::int64_t k = 0; k < args.length; ++k) sum[k] = x[k] + args.residual[row * args.length + k];
      x = sum;
    }
    const T mean = ordered_sum<T>(args.length, [=](std::int64_t k) { return x[k]; }) / count;
    const T var = ordered_sum<T>(args.length, [=](std::int64_t k) { return (x[k] - mean) * (x[k] - mean); }) / count;
    const T inverse = T(1) / sqrt(var + args.eps);
    for (std::int64_t k = 0; k < args.length; ++k) {
      const T normal = (x[k] - mean) * inverse;
      const T scaled = args.gamma == nullptr ? normal : normal * args.gamma[k];
      args.y[row * args.length + k] = args.beta == nullptr ? scaled : scaled + args.beta[k];
    }
    args.mean[row] = mean;
    args.inverse[row] = inverse;
  }
}

// With g = dy gamma: dx = (g - mean g - n mean(g n)) / sqrt(var x + eps), dgamma = sum dy n, dbeta = sum dy.
template <class T> void plain::layer_norm_gradient(const LayerNormGradientRows<T>& args) {
  const T count = static_cast<T>(static_cast<double>(args.length));
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const std::int64_t begin = row * args.length;
    const T* dy = args.dy + begin;
    const auto normal = [=](std::int64_t k) {
      if (args.x != nullptr) return (args.x[begin + k] - args.mean[row]) * args.inverse[row];
      const T scaled = args.beta == nullptr ? args.y[begin + k] : args.y[begin + k] - args.beta[k];
      return args.one_over_gamma == nullptr ? scaled : scaled * args.one_over_gamma[k];
    };
    const auto g = [=](std::int64_t k) { return args.gamma == nullptr ? dy[k] : dy[k] * args.gamma[k]; };
    for (std::int64_t k = 0; k < args.length; ++k) {
      if (args.dgamma != nullptr) args.dgamma[k] += dy[k] * normal(k);
      if (args.dbeta != nullptr) args.dbeta[k] += dy[k];
    }
    if (args.dx == nullptr) continue;
    const T mean_g = ordered_sum<T>(args.length, g) / count;
    const T mean_gn = ordered_sum<T>(args.length, [=](std::int64_t k) { return g(k) * normal(k); }) / count;
    GradientSlot<T>{args.dx + begin, args.add}.put(
        args.length, [=](std::int64_t k) { return (g(k) - mean_g - normal(k) * mean_gn) * args.inverse[row]; });
  }
}

RETRACE_INSTANTIATE_PLAIN(layer_norm, LayerNormRows);
RETRACE_INSTANTIATE_PLAIN(layer_norm_gradient, LayerNormGradientRows);

namespace {

// Where the residual, gamma and beta are among the inputs; -1: not given.
struct Attributes {
  int residual = -1;
  int gamma = -1;
  int beta = -1;
  int axes = 1;
  double eps = 0;
  bool from_y = false;  // what the gradient finds n from: y, or else x or x + residual
};

Formulas formulas(const Record& r) {
  const Attributes& attributes = r.attributes<Attributes>();
  const int rank = r.in(0).shape.rank();
  std::array<bool, max_rank> normalised{};
  std::fill(normalised.begin() + (rank - attributes.axes), normalised.begin() + rank, true);
  const std::string last = along_axes(normalised, rank);
  const std::string s = attributes.residual > 0 ? "s" : "x",
                    deviation = text("v = mean (", s, " - mean ", s, ")^2", last);
  const std::string root = text("sqrt(v + ", attributes.eps, ")");
  std::string backward =
      text(attributes.gamma > 0 ? "g = dy gamma" : "g = dy", ", d", s, " = (g - mean g - n mean g n) / ", root, last);
  if (attributes.residual > 0) backward += ", dx = ds, dresidual = ds";
  if (attributes.gamma > 0) backward += ", dgamma = " + sum_over_rows("dy n", rank, attributes.axes);
  if (attributes.beta > 0) backward += ", dbeta = " + sum_over_rows("dy", rank, attributes.axes);
  return {text(attributes.residual > 0 ? "s = x + residual, " : "", deviation, ", n = (", s, " - mean ", s, ") / ",
               root, last, ", y = n", attributes.gamma > 0 ? " gamma" : "", attributes.beta > 0 ? " + beta" : ""),
          backward};
}
AttributeList attribute_list(const Record& r) {
  const Attributes& attributes = r.attributes<Attributes>();
  AttributeList list{{"axes", attributes.axes}, {"eps", attributes.eps}};
  if (attributes.gamma < 0 && attributes.beta > 0)
    list.push_back({"inputs", std::string(attributes.residual > 0 ? "x, residual, beta" : "x, beta")});
  return list;
}
constexpr OpInfo info{"layer_norm",
                      "v = mean (x - mean x)^2, n = (x - mean x) / sqrt(v + eps), y = n gamma + beta",
                      "g = dy gamma, dx = (g - mean g - n mean g n) / sqrt(v + eps), dgamma = sum dy n, dbeta = sum dy",
                      "x, gamma, beta",
                      formulas,
                      attribute_list};
constexpr OpInfo residual_info{
    "residual_layer_norm",
    "s = x + residual, v = mean (s - mean s)^2, n = (s - mean s) / sqrt(v + eps), y = n gamma + beta",
    "g = dy gamma, ds = (g - mean g - n mean g n) / sqrt(v + eps), dx = ds, dresidual = ds, dgamma = sum dy n, "
    "dbeta = sum dy",
    "x, residual, gamma, beta",
    formulas,
    attribute_list};

constexpr std::int64_t grain = 4096;  // elements that are worth a thread

// The rows are cut into blocks, of a size that depends on their length alone: the sums over rows are those of the
// blocks, added up in order, on any number of threads.
std::int64_t rows_of_a_block(std::int64_t width) { return std::clamp<std::int64_t>(262144 / (width + 1), 1, 1024); }

template <class T>
LayerNormGradientRows<T> rows_from(LayerNormGradientRows<T> all, std::int64_t first, std::int64_t last) {
  for (const T** rows : {&all.x, &all.y, &all.dy})
    if (*rows != nullptr) *rows += first * all.length;
  if (all.mean != nullptr) all.mean += first;
  if (all.dx != nullptr) all.dx += first * all.length;
  all.inverse += first;
  all.rows = last - first;
  return all;
}

/// The gradients of rows, but for the hidden ones among them.
template <class T> void gradient_of_rows(const LayerNormGradientRows<T>& all) {
  const auto is_hidden = [&](std::int64_t row) {
    return is_hidden_row(all.dy + row * all.length, all.inverse[row], all.length);
  };
  for (std::int64_t first = 0, last = 0; first < all.rows; first = last) {
    while (last < all.rows && !is_hidden(last)) ++last;
    if (last > first)
      kernels::run<T>(&kernels::KernelTable::layer_norm_gradient, plain::layer_norm_gradient<T>,
                      rows_from(all, first, last));
    for (; last < all.rows && is_hidden(last); ++last)
      if (all.dx != nullptr && !all.add) std::fill_n(all.dx + last * all.length, all.length, T(0));
  }
}

/// The gradients of `all` block by block; the sums of every block but the first go to room of their own before they are
/// added.
template <class T> void gradient_by_blocks(const LayerNormGradientRows<T>& all, Dtype dtype) {
  const std::int64_t size = rows_of_a_block(all.length), blocks = (all.rows + size - 1) / size;
  const Tensor room = zeros({std::max<std::int64_t>(blocks - 1, 0), 2, all.length}, dtype);
  T* sums = OpAccess::values<T>(room);
  const auto of_block = [=](std::int64_t block, int which) { return sums + (2 * (block - 1) + which) * all.length; };
  parallel_for(blocks, grain / (size * all.length + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t block = begin; block < end; ++block) {
      LayerNormGradientRows<T> part = rows_from(all, block * size, std::min((block + 1) * size, all.rows));
      if (block > 0 && part.dgamma != nullptr) part.dgamma = of_block(block, 0);
      if (block > 0 && part.dbeta != nullptr) part.dbeta = of_block(block, 1);
      gradient_of_rows(part);
    }
  });
  for (std::int64_t block = 1; block < blocks; ++block) {
    for (std::int64_t k = 0; all.dgamma != nullptr && k < all.length; ++k) all.dgamma[k] += of_block(block, 0)[k];
    for (std::int64_t k = 0; all.dbeta != nullptr && k < all.length; ++k) all.dbeta[k] += of_block(block, 1)[k];
  }
}

/// The gradient of x + residual goes to both as it is.
template <class T> struct GradientOfSum {
  Record& record;
  Tensor values;

  GradientOfSum(Record& r, int residual) : record(r) {
    if (residual > 0 && (r.wants(0) || r.wants(residual))) values = r.flow_to_tensor<T>().tensor;
  }
  GradientSlot<T> slot() const {
    if (values.defined()) return {OpAccess::values<T>(values), false};
    return record.wants(0) ? record.template flow<T>(0).dx : GradientSlot<T>{nullptr, false};
  }
  void pass_on(int residual) const {
    if (!values.defined()) return;
    for (const int input : {0, residual})
      if (record.wants(input)) record.add(input, values);
  }
};

// saved: 0 what n is found from, 1 its mean unless that is y, 2 inverse, 3 gamma, 4 beta for y
void backward(Record& r) {
  const Attributes attributes = r.attributes<Attributes>();
  const std::int64_t rows = r.saved(2).numel();
  const std::int64_t width = rows == 0 ? 0 : r.in(0).numel() / rows;
  dispatch_real(r.out(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const auto sums_of = [&](int input) {
      return input > 0 && r.wants(input) ? r.grad_in<T>(input, Begin::zeroed).values : nullptr;
    };
    const auto saved = [&](int k) { return r.saved(k) ? r.saved(k).values<T>() : nullptr; };
    const T* dy = r.grad_out<T>();
    const Tensor one_over_gamma = attributes.from_y && r.saved(3) ? reciprocal(r.saved(3).tensor()) : Tensor();
    // Before dx, which adds if x is gamma or beta.
    T *const dgamma = sums_of(attributes.gamma), *const dbeta = sums_of(attributes.beta);
    const GradientOfSum<T> of_sum(r, attributes.residual);
    const GradientSlot<T> dx = of_sum.slot();
    gradient_by_blocks<T>({.x = attributes.from_y ? nullptr : saved(0),
                           .dy = dy,
                           .gamma = saved(3),
                           .mean = saved(1),
                           .inverse = saved(2),
                           .dx = dx.values,
                           .dgamma = dgamma,
                           .dbeta = dbeta,
                           .rows = rows,
                           .length = width,
                           .add = dx.add,
                           .y = attributes.from_y ? saved(0) : nullptr,
                           .beta = saved(4),
                           .one_over_gamma = one_over_gamma.defined() ? one_over_gamma.values<T>().data() : nullptr,
                           .past_cache = is_beyond_cache<T>(r.in(0).numel())},
                          r.out(0).dtype);
    of_sum.pass_on(attributes.residual);
  });
}

/// The operands of both ops.
struct Operands {
  Tensor x, residual, gamma, beta;
  LayerNormOptions options;

  const OpInfo& info_of_op() const { return residual.defined() ? residual_info : info; }
  const char* name() const { return info_of_op().name; }
};

void check(const Operands& in) {
  check_defined(in.name(), in.x, "x");
  const Tensor& x = in.x;
  if (in.options.axes < 1 || in.options.axes > x.rank())
    throw ShapeError(text(in.name(), ": ", describe_operand("x", x), " does not have ", in.options.axes,
                          " last axes to normalise; options.axes is 1 to the rank"));
  if (!(in.options.eps >= 0))
    throw ValueError(
        text(in.name(), ": ", describe_operand("x", x), " with eps ", in.options.eps, "; eps must be 0 or more"));
  if (in.residual.defined() && in.residual.shape() != x.shape())
    throw ShapeError(text(in.name(), ": ", describe_operand("x", x), " and ", describe_operand("residual", in.residual),
                          " must have one shape; reshape or broadcast one"));
  const Shape normalised = x.shape().last(in.options.axes);
  for (const auto& [role, affine] : {std::pair("gamma", &in.gamma), std::pair("beta", &in.beta)}) {
    if (!affine->defined()) continue;
    if (affine->shape() != normalised)
      throw ShapeError(text(in.name(), ": ", describe_operand(role, *affine), " does not have the shape ", normalised,
                            " of the normalised axes of ", describe_operand("x", x), "; reshape it"));
    check_dtypes(in.name(), x, *affine, "x", role);
  }
  if (in.residual.defined()) check_dtypes(in.name(), x, in.residual, "x", "residual");
  check_real(in.name(), x);
}

struct Normalised {
  Tensor y, sum, mean, inverse;  // sum: x, or x + residual, which may be where y will be
};

/// Whether n = (y - beta) / gamma is exact to a few units in the last place of 1 + |n|. The gradient then starts from
/// y, which the next op usually saves as well, and the tape keeps no other array. Whether it is exact depends on the
/// values of gamma and beta: where gamma is nearly 0, y does not tell n. Looking at them is worth a quarter of the
/// memory: a training step of the relational memory core takes 270 MB instead of 360 with 256 samples, and 1,690 MB
/// instead of 2,300 with 1,600, in the same time.
bool gives_back_normal(const Operands& in) {
  constexpr double smallest = 1e-6, largest = 1e6;  // gamma whose reciprocal is an ordinary number
  constexpr double max_beta = 4;                    // times gamma
  if (!in.gamma.defined() && !in.beta.defined()) return true;
  return dispatch_real(in.x.dtype(), in.name(), [&](auto zero) {
    using T = decltype(zero);
    using std::abs;
    const auto read = [](const Tensor& x) { return x.defined() ? x.values<T>().data() : nullptr; };
    const T *gamma = read(in.gamma), *beta = read(in.beta);
    bool given_back = true;
    for (std::int64_t k = 0; k < in.x.shape().last(in.options.axes).numel(); ++k) {
      const T scale = gamma == nullptr ? T(1) : abs(gamma[k]), offset = beta == nullptr ? T(0) : abs(beta[k]);
      given_back &= scale >= T(smallest) && scale <= T(largest) && offset <= T(max_beta) * scale;
    }
    return given_back;
  });
}

/// Normalises a row again whose squares overflow or underflow.
template <class T> void rescale_row(const LayerNormRows<T>& all, std::int64_t row) {
  const T* x = all.x + row * all.length;
  T* y = all.y + row * all.length;
  if (all.residual != nullptr) {
    T* sum = all.sum + row * all.length;  // which may have been y
    for (std::int64_t k = 0; k < all.length; ++k) sum[k] = x[k] + all.residual[row * all.length + k];
    x = sum;
  }
  const RescaledRow<T> rescaled(x, all.length, static_cast<double>(all.eps), true);
  for (std::int64_t k = 0; k < all.length; ++k) {
    const T normal = rescaled.normal(x[k]), scaled = all.gamma == nullptr ? normal : normal * all.gamma[k];
    y[k] = all.beta == nullptr ? scaled : scaled + all.beta[k];
  }
  all.mean[row] = rescaled.mean();
  all.inverse[row] = rescaled.inverse();
}

template <class T> void forward(const Operands& in, const Normalised& out) {
  const std::int64_t rows = out.inverse.numel(), width = rows == 0 ? 0 : in.x.numel() / rows;
  const auto read = [](const Tensor& x) { return x.defined() ? x.values<T>().data() : nullptr; };
  const auto write = [](const Tensor& x) { return OpAccess::values<T>(x); };
  LayerNormRows<T> all{.x = read(in.x),
                       .gamma = read(in.gamma),
                       .beta = read(in.beta),
                       .y = write(out.y),
                       .mean = write(out.mean),
                       .inverse = write(out.inverse),
                       .rows = rows,
                       .length = width,
                       .eps = static_cast<T>(in.options.eps),
                       .past_cache = is_beyond_cache<T>(in.x.numel())};
  if (in.residual.defined()) all.residual = read(in.residual), all.sum = write(out.sum);
  parallel_for(rows, grain / (width + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    LayerNormRows<T> part = all;
    part.x += begin * width, part.y += begin * width, part.mean += begin, part.inverse += begin;
    if (part.residual != nullptr) part.residual += begin * width, part.sum += begin * width;
    part.rows = end - begin;
    kernels::run<T>(&kernels::KernelTable::layer_norm, plain::layer_norm<T>, part);
    for (std::int64_t row = 0; row < part.rows; ++row)
      if (!comes_from_digits(part.inverse[row])) rescale_row(part, row);
  });
}

void record_of(const Operands& in, const Normalised& out, bool from_y) {
  Attributes attributes{.axes = in.options.axes, .eps = in.options.eps, .from_y = from_y};
  Tensors inputs{in.x};
  const auto append = [&](const Tensor& operand) {
    if (!operand.defined()) return -1;
    inputs.push_back(operand);
    return static_cast<int>(inputs.size()) - 1;
  };
  attributes.residual = append(in.residual), attributes.gamma = append(in.gamma), attributes.beta = append(in.beta);
  if (from_y) {
    record(in.info_of_op(), backward, inputs, {&out.y}, {&out.y, nullptr, &out.inverse, &in.gamma, &in.beta},
           attributes);
    return;
  }
  const bool saves_gamma = in.x.wants_gradient() || (in.residual.defined() && in.residual.wants_gradient());
  record(in.info_of_op(), backward, inputs, {&out.y},
         {&out.sum, &out.mean, &out.inverse, saves_gamma ? &in.gamma : nullptr, nullptr}, attributes);
}

Tensor normalise(Operands in) {
  check(in);
  widen(in.name(), "x", {&in.x, &in.residual, &in.gamma, &in.beta});
  const Shape rows = in.x.shape().first(in.x.rank() - in.options.axes);
  const bool from_y = gives_back_normal(in);
  Normalised out{empty_like(in.x), in.x, empty(rows, in.x.dtype()), {}};
  if (in.residual.defined()) out.sum = from_y ? out.y : empty_like(in.x);
  out.inverse = empty_like(out.mean);
  dispatch_real(in.x.dtype(), in.name(), [&](auto zero) { forward<decltype(zero)>(in, out); });
  record_of(in, out, from_y);
  return out.y;
}

}  // namespace

Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, LayerNormOptions options) {
  return normalise({x, {}, gamma, beta, options});
}

Tensor residual_layer_norm(const Tensor& x, const Tensor& residual, const Tensor& gamma, const Tensor& beta,
                           LayerNormOptions options) {
  check_defined(residual_info.name, x, "x");
  check_defined(residual_info.name, residual, "residual");
  if (expand_fused()) return layer_norm(x + residual, gamma, beta, options);
  return normalise({x, residual, gamma, beta, options});
}

}  // namespace retrace
