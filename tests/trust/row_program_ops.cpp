// Ops of programs that reduce or change whole rows, and losses.
#include <retrace/core/tape/identity.h>
#include <retrace/tests/trust/program_ops.h>

#include <numeric>

namespace retrace {
namespace {

using naive::Array;
using naive::Arrays;
using naive::Extents;
using naive::Line;
using naive::Number;

using Fitting = std::optional<std::vector<Extents>>;
using OfLine = std::function<Number(const Line&)>;
using LineOf = std::function<Line(const Line&)>;

std::size_t axis_in(const Numbers& n) { return static_cast<std::size_t>(n[0]); }

/// An axis, and whether it stays.
Fitting one_axis(const Extents& x, Choices& choices, Numbers& n) {
  if (x.empty()) return std::nullopt;
  n = {choices.below(std::ssize(x)), choices.below(2)};
  return std::vector<Extents>{};
}

Array dropped(Array x, const Numbers& n) {
  if (n[1] == 0) x.shape = naive::without(x.shape, axis_in(n));
  return x;
}

ProgramOp reduction(std::string_view name, Tensor (*run)(const Tensor&, const Axes&, ReduceOptions), OfLine f) {
  return {name, one_axis,
          [run](const Tensors& in, const Numbers& n) {
            const int axis = static_cast<int>(n[0]) - (n[1] == 0 ? in[0].rank() : 0);  // counted from either end
            return Tensors{run(in[0], axis, {.keepdims = n[1] == 1})};
          },
          [f](const Arrays& in, const Numbers& n) { return Arrays{dropped(naive::reduce(in[0], axis_in(n), f), n)}; }};
}

/// A reduction of all elements.
ProgramOp whole(std::string_view name, Tensor (*run)(const Tensor&, const Axes&, ReduceOptions), OfLine f) {
  return {name, [](const Extents&, Choices&, Numbers&) -> Fitting { return std::vector<Extents>{}; },
          [run](const Tensors& in, const Numbers&) { return Tensors{run(in[0], {}, {})}; },
          [f](const Arrays& in, const Numbers&) {
            return Arrays{Array{{}, {f(in[0].at)}}};
          }};
}

ProgramOp rows(std::string_view name, std::function<Tensor(const Tensor&, int)> run, LineOf f) {
  return {name, one_axis,
          [run](const Tensors& in, const Numbers& n) { return Tensors{run(in[0], static_cast<int>(n[0]))}; },
          [f](const Arrays& in, const Numbers& n) { return Arrays{naive::along(in[0], axis_in(n), f)}; }};
}

Number product(const Line& x) {
  Number result = 1;
  for (const Number& each : x) result = result * each;
  return result;
}
Number smallest(const Line& x) {
  Line negative;
  for (const Number& each : x) negative.push_back(Number(0) - each);
  return Number(0) - naive::largest(negative);
}
Number deviation(const Line& x) {
  const Number variance = naive::spread(x);
  naive::require(variance.value > 0.01);
  return naive::sqrt(variance);
}
Number length_of(const Line& x) {
  Number sum;
  for (const Number& each : x) sum = sum + each * each;
  naive::require(sum.value > 0.01);
  return naive::sqrt(sum);
}

Line log_softmax_of(const Line& x) {
  const Number all = naive::log_sum_exp(x);
  Line result;
  for (const Number& each : x) result.push_back(each - all);
  return result;
}
Line softmax_of(const Line& x) {
  Line result = log_softmax_of(x);
  for (Number& each : result) each = naive::exp(each);
  return result;
}
Line sums_of(const Line& x) {
  Line result{x[0]};
  for (std::size_t k = 1; k < x.size(); ++k) result.push_back(result.back() + x[k]);
  return result;
}
Line products_of(const Line& x) {
  Line result{x[0]};
  for (std::size_t k = 1; k < x.size(); ++k) result.push_back(result.back() * x[k]);
  return result;
}
Line sorted(const Line& x) {
  Line result = x;
  for (std::size_t k = 0; k < result.size(); ++k)
    for (std::size_t other = k + 1; other < result.size(); ++other)
      if (naive::above(result[k], result[other])) std::swap(result[k], result[other]);
  return result;
}
Line normalised(const Line& x, double eps) {
  const Number mean = naive::average(x), scale = naive::sqrt(naive::spread(x) + eps);
  naive::require(scale.value > 0.05);
  Line result;
  for (const Number& each : x) result.push_back((each - mean) / scale);
  return result;
}
Line by_root_mean_square(const Line& x, double eps) {
  Line squares;
  for (const Number& each : x) squares.push_back(each * each);
  const Number scale = naive::sqrt(naive::average(squares) + eps);
  naive::require(scale.value > 0.05);
  Line result;
  for (const Number& each : x) result.push_back(each / scale);
  return result;
}

/// A normalisation of the last axis, times and plus further operands of its length.
ProgramOp norm_of_rows(std::string_view name, std::size_t factors, bool residual,
                       std::function<Tensor(const Tensors&)> run, LineOf f) {
  return {name,
          [=](const Extents& x, Choices&, Numbers&) -> Fitting {
            if (x.empty()) return std::nullopt;
            std::vector<Extents> others(factors, Extents{x.back()});
            if (residual) others.insert(others.begin(), x);
            return others;
          },
          [run](const Tensors& in, const Numbers&) { return Tensors{run(in)}; },
          [=](const Arrays& in, const Numbers&) {
            const Array sum =
                residual ? naive::fill(in[0].shape, [&](const Extents& i) { return in[0][i] + in[1][i]; }) : in[0];
            const Array y = naive::along(sum, sum.shape.size() - 1, f);
            const std::size_t first = residual ? 2 : 1;
            return Arrays{naive::fill(y.shape, [&](const Extents& i) {
              const Number scaled = factors > 0 ? y[i] * in[first][i] : y[i];
              return factors > 1 ? scaled + in[first + 1][i] : scaled;
            })};
          }};
}

Fitting same_shape(const Extents& x, Choices& choices, Numbers& n) {
  n = {choices.below(3)};
  return std::vector<Extents>{x};
}

/// A loss of each pair of elements, reduced as the number says.
ProgramOp loss(std::string_view name, std::function<Tensor(const Tensor&, const Tensor&, Reduction)> run,
               std::function<Number(Number, Number)> f) {
  return {
      name, same_shape,
      [run](const Tensors& in, const Numbers& n) { return Tensors{run(in[0], in[1], Reduction(n[0]))}; },
      [f](const Arrays& in, const Numbers& n) {
        const Array each = naive::fill(in[0].shape, [&](const Extents& i) { return f(in[0][i], in[1][i]); });
        if (Reduction(n[0]) == Reduction::none) return Arrays{each};
        const Number sum = naive::total(each.at);
        return Arrays{Array{{}, {Reduction(n[0]) == Reduction::sum ? sum : sum / static_cast<double>(each.at.size())}}};
      }};
}

Number huber_of(Number d, double delta) {
  const Number size = naive::above(d, 0) ? d : Number(0) - d;
  return naive::above(size, delta) ? (size - delta / 2) * delta : d * d / 2;
}

std::int64_t label_of(std::int64_t row, std::int64_t classes) { return (row * 5 + 1) % classes; }

/// Cross entropy of labels, or nll of numbers that stand for log-probabilities.
ProgramOp of_labels(std::string_view name, std::function<Tensor(const Tensor&, const Tensor&)> run, bool normalise) {
  return {name,
          [](const Extents& x, Choices&, Numbers&) -> Fitting {
            if (x.empty()) return std::nullopt;
            return std::vector<Extents>{};
          },
          [run](const Tensors& in, const Numbers&) {
            const std::int64_t classes = in[0].dim(-1), count = in[0].numel() / classes;
            std::vector<std::int64_t> labels;
            for (std::int64_t row = 0; row < count; ++row) labels.push_back(label_of(row, classes));
            Extents shape(in[0].shape().begin(), in[0].shape().end());
            shape.pop_back();
            return Tensors{run(in[0], indices(labels, Shape{std::span<const std::int64_t>(shape)}))};
          },
          [normalise](const Arrays& in, const Numbers&) {
            const Array x = normalise ? naive::along(in[0], in[0].shape.size() - 1, log_softmax_of) : in[0];
            const std::int64_t classes = x.shape.back(), count = std::ssize(x.at) / classes;
            Number sum;
            for (std::int64_t row = 0; row < count; ++row)
              sum = sum - x.at[static_cast<std::size_t>(row * classes + label_of(row, classes))];
            return Arrays{Array{{}, {sum / static_cast<double>(count)}}};
          }};
}

}  // namespace

std::vector<ProgramOp> row_program_ops() {
  return {
      reduction("sum", sum, naive::total),
      reduction("mean", mean, naive::average),
      reduction("max", max, naive::largest),
      reduction("min", min, smallest),
      reduction("var", var, naive::spread),
      reduction("std", std, deviation),
      reduction("prod", prod, product),
      reduction("logsumexp", logsumexp, naive::log_sum_exp),
      reduction("norm", norm, length_of),
      whole("sum of all", sum, naive::total),
      whole("mean of all", mean, naive::average),
      whole("max of all", max, naive::largest),
      whole("logsumexp of all", logsumexp, naive::log_sum_exp),
      rows(
          "softmax", [](const Tensor& x, int axis) { return softmax(x, axis); }, softmax_of),
      rows(
          "log_softmax", [](const Tensor& x, int axis) { return log_softmax(x, axis); }, log_softmax_of),
      rows("cumsum", cumsum, sums_of),
      rows("cumprod", cumprod, products_of),
      rows(
          "sort", [](const Tensor& x, int axis) { return sort(x, axis).values; }, sorted),
      rows("flip", flip, [](const Line& x) { return Line(x.rbegin(), x.rend()); }),
      rows(
          "roll", [](const Tensor& x, int axis) { return identity(roll(x, 2, axis)); },  // which may be x itself
          [](const Line& x) {
            Line result;
            for (std::size_t k = 0; k < x.size(); ++k) result.push_back(x[(k + 2 * x.size() - 2) % x.size()]);
            return result;
          }),
      norm_of_rows(
          "layer_norm", 2, false, [](const Tensors& in) { return layer_norm(in[0], in[1], in[2]); },
          [](const Line& x) { return normalised(x, 1e-5); }),
      norm_of_rows(
          "layer_norm without weights", 0, false, [](const Tensors& in) { return layer_norm(in[0]); },
          [](const Line& x) { return normalised(x, 1e-5); }),
      norm_of_rows(
          "residual_layer_norm", 2, true,
          [](const Tensors& in) { return residual_layer_norm(in[0], in[1], in[2], in[3]); },
          [](const Line& x) { return normalised(x, 1e-5); }),
      norm_of_rows(
          "rms_norm", 1, false, [](const Tensors& in) { return rms_norm(in[0], in[1]); },
          [](const Line& x) { return by_root_mean_square(x, 1e-6); }),
      loss("mse", mse, [](Number x, Number t) { return (x - t) * (x - t); }),
      loss(
          "bce_with_logits", [](const Tensor& x, const Tensor& t, Reduction r) { return bce_with_logits(x, t, r); },
          [](Number x, Number t) { return naive::log(Number(1) + naive::exp(x)) - x * t; }),
      loss(
          "smooth_l1", [](const Tensor& x, const Tensor& t, Reduction r) { return smooth_l1(x, t, 0.5, r); },
          [](Number x, Number t) { return huber_of(x - t, 0.5) / 0.5; }),
      loss(
          "huber", [](const Tensor& x, const Tensor& t, Reduction r) { return huber(x, t, 0.5, r); },
          [](Number x, Number t) { return huber_of(x - t, 0.5); }),
      of_labels(
          "cross_entropy", [](const Tensor& x, const Tensor& t) { return cross_entropy(x, t); }, true),
      of_labels(
          "nll", [](const Tensor& x, const Tensor& t) { return nll(x, t); }, false),
  };
}

}  // namespace retrace
