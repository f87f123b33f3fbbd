// The logarithm of the posterior of a mixture of k Gaussians in d dimensions, with weights softmax(alpha), means mu,
// and inverse covariances Q^T Q, of n points x. Q is lower triangular: e^q on the diagonal, l below it, column by
// column.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace retrace::gradbench {
namespace {

/// The points, and the prior of each inverse covariance: a Wishart distribution with d + 1 + m degrees of freedom and
/// the scale 1 / gamma^2.
struct Data {
  Tensor x;
  double gamma;
  std::int64_t m;
};

// [k, d, d] from e^q [k, d] and l [k, d (d - 1) / 2].
Tensor triangles(const Tensor& diagonal, const Tensor& l) {
  const std::int64_t k = diagonal.dim(0), d = diagonal.dim(1), below = l.dim(1);
  // Where each element of a matrix is in [e^q, l, 0].
  std::vector<std::int64_t> places(static_cast<std::size_t>(d * d), d + below);
  std::int64_t next = d;
  for (std::int64_t column = 0; column < d; ++column) {
    places[static_cast<std::size_t>(column * (d + 1))] = column;
    for (std::int64_t row = column + 1; row < d; ++row) places[static_cast<std::size_t>(row * d + column)] = next++;
  }
  const Tensor elements = concat({diagonal, l, zeros({k, 1}, f64)}, 1);
  return reshape(take(elements, indices(std::span<const std::int64_t>(places), {d * d}), 1), {k, d, d});
}

double log_multivariate_gamma(double a, std::int64_t d) {
  const auto size = static_cast<double>(d);
  double result = size * (size - 1) / 4 * std::log(std::numbers::pi);
  for (std::int64_t j = 0; j < d; ++j) result += std::lgamma(a - static_cast<double>(j) / 2);
  return result;
}

Tensor log_prior(const Tensor& diagonal, const Tensor& l, const Tensor& sum_q, const Data& data) {
  const auto k = static_cast<double>(diagonal.dim(0)), m = static_cast<double>(data.m);
  const auto d = static_cast<double>(diagonal.dim(1)), freedom = d + m + 1;
  const double constant = freedom * d * (std::log(data.gamma) - std::numbers::ln2 / 2) -
                          log_multivariate_gamma(freedom / 2, diagonal.dim(1));
  const Tensor squares = sum(square(diagonal)) + sum(square(l));
  return k * constant - data.gamma * data.gamma / 2 * squares + m * sum(sum_q);
}

Tensor log_posterior(const Tensor& alpha, const Tensor& mu, const Tensor& q, const Tensor& l, const Data& data) {
  const auto n = static_cast<double>(data.x.dim(0));
  const Tensor diagonal = exp(q), sum_q = sum(q, 1), triangle = triangles(diagonal, l);
  const MatmulOptions transposed{.transpose_b = true};
  // Q (x - mu), [k, n, d].
  const Tensor scaled = matmul(data.x, triangle, transposed) - matmul(unsqueeze(mu, 1), triangle, transposed);
  const Tensor terms = unsqueeze(alpha + sum_q, 1) - sum(square(scaled), -1) / 2;
  const double constant = -n * static_cast<double>(data.x.dim(1)) / 2 * std::log(2 * std::numbers::pi);
  return constant + sum(logsumexp(terms, 0)) - n * logsumexp(alpha) + log_prior(diagonal, l, sum_q, data);
}

Run prepare(const Input& input, bool gradient) {
  const std::int64_t k = input.integer("k"), d = input.integer("d");
  const Tensors parameters{input.tensor("alpha"), input.tensor("mu"), input.tensor("q"),
                           reshape(input.tensor("l"), {k, d * (d - 1) / 2})};
  const Data data{input.tensor("x"), input.number("gamma"), input.integer("m")};
  const auto f = [data](const Tensors& at) { return log_posterior(at[0], at[1], at[2], at[3], data); };
  return [=]() -> Answer {
    if (!gradient) return f(parameters);
    const Tensors gradients = gradients_of(f, parameters);
    return std::map<std::string, Answer>{
        {"alpha", gradients[0]}, {"mu", gradients[1]}, {"q", gradients[2]}, {"l", gradients[3]}};
  };
}
constexpr Function functions[] = {{"objective", [](const Input& input) { return prepare(input, false); }},
                                  {"jacobian", [](const Input& input) { return prepare(input, true); }}};

}  // namespace

const Eval gmm{"gmm", functions};

}  // namespace retrace::gradbench
