#include <retrace/models/study/gradient_flow.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

constexpr std::int64_t products_at_once = 64;

/// The sums of squares of `parts` equally long parts of x; zeros for nothing.
std::vector<double> squares_of_parts(const Tensor& x, std::int64_t parts) {
  std::vector<double> squares(static_cast<std::size_t>(parts));
  if (!x.defined() || x.numel() == 0) return squares;
  dispatch_real(x.dtype(), "gradient_flow", [&](auto zero) {
    const auto values = x.values<decltype(zero)>();
    const std::size_t size = values.size() / squares.size();
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double value = static_cast<double>(values[k]);
      squares[k / size] += value * value;
    }
  });
  return squares;
}

std::vector<double> norms_of_parts(const Tensor& x, std::int64_t parts) {
  std::vector<double> norms = squares_of_parts(x, parts);
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

/// Which element of which state a sample of the batch has its cotangent at.
struct StateElement {
  std::size_t time;
  std::int64_t position;
};

/// A copy of x [1, T, F] for each sample, a leaf that wants a gradient.
Tensor repeated(const Tensor& x, std::int64_t batch) {
  return broadcast_to(x.detach(), {batch, x.dim(1), x.dim(2)}).clone().watch();
}

Tensor gradient_or_nothing(const Tensor& x) { return x.has_grad() ? x.grad() : Tensor(); }

/// Adds the squares of the products of these elements to the matrix.
void add_products(std::vector<std::vector<double>>& matrix, const std::function<Tensors(const Tensor& x)>& states,
                  const Tensor& x, std::span<const StateElement> elements) {
  const Tensor repeats = repeated(x, std::ssize(elements));
  Tape tape;
  const Tensors all_states = states(repeats);
  Tensors outputs, cotangents;
  for (std::size_t t = elements.front().time; t <= elements.back().time; ++t) {
    const Tensor& state = all_states[t];
    if (!state.wants_gradient()) continue;
    const Tensor cotangent = zeros(state.shape(), state.dtype());
    const std::int64_t size = state.numel() / std::ssize(elements);
    dispatch_real(state.dtype(), "gradient_flow", [&](auto zero) {
      const auto numbers = cotangent.mutable_values<decltype(zero)>();
      for (std::size_t sample = 0; sample < elements.size(); ++sample)
        if (elements[sample].time == t)
          numbers[sample * static_cast<std::size_t>(size) + static_cast<std::size_t>(elements[sample].position)] = 1;
    });
    outputs.push_back(state);
    cotangents.push_back(cotangent);
  }
  if (outputs.empty()) return;
  tape.backward(outputs, cotangents);
  const std::size_t times = matrix.front().size();
  const std::vector<double> squares = squares_of_parts(gradient_or_nothing(repeats), std::ssize(elements) * x.dim(1));
  for (std::size_t k = 0; k < squares.size(); ++k) matrix[elements[k / times].time][k % times] += squares[k];
}

/// Every element of states of these sizes, in the order of time.
std::vector<StateElement> state_elements(const Tensors& states) {
  std::vector<StateElement> elements;
  for (std::size_t t = 0; t < states.size(); ++t)
    for (std::int64_t position = 0; position < states[t].numel(); ++position) elements.push_back({t, position});
  return elements;
}

/// One row of norms, or one per slot.
std::vector<GradientFlow::Norms> norms_of(const StatesOverTime::States& states) {
  const Tensor& first = states.values.front();
  const std::int64_t slots = first.rank() == 3 ? first.dim(1) : 1;
  std::vector<GradientFlow::Norms> rows;
  for (std::int64_t slot = 0; slot < slots; ++slot)
    rows.push_back({first.rank() == 3 ? text("slot ", slot) : states.name, {}});
  for (const Tensor& state : states.values) {
    const std::vector<double> norms = norms_of_parts(gradient_or_nothing(state), slots);
    for (std::size_t slot = 0; slot < norms.size(); ++slot) rows[slot].values.push_back(norms[slot]);
  }
  return rows;
}

}  // namespace

std::vector<std::vector<double>> jacobian_norms(const std::function<Tensors(const Tensor& x)>& states,
                                                const Tensor& x) {
  const auto times = static_cast<std::size_t>(x.dim(1));
  const std::vector<StateElement> elements = state_elements([&] {
    const NoTape no_tape;
    return states(x.detach());
  }());
  std::vector<std::vector<double>> matrix(times, std::vector<double>(times));
  for (std::size_t first = 0; first < elements.size(); first += products_at_once)
    add_products(matrix, states, x,
                 std::span(elements).subspan(first, std::min<std::size_t>(products_at_once, elements.size() - first)));
  for (std::vector<double>& row : matrix)
    for (double& norm : row) norm = std::sqrt(norm);
  return matrix;
}

std::vector<GradientFlow> gradient_flow(const ThroughTime& computation, std::int64_t max_products) {
  const std::int64_t times = computation.x.dim(1);
  std::vector<GradientFlow> flows;
  StatesOverTime run;
  {
    const Tensor x = repeated(computation.x, 1);
    Tape tape({.expand_fused = true});  // within a fused step, what flows from h to c would not show
    run = computation.states(x);
    tape.backward(computation.loss(run));
    for (const StatesOverTime::States& states : run.states)
      flows.push_back({.title = states.name, .times = times, .norms = norms_of(states), .matrix = {}});
    flows.push_back(
        {.title = "x", .times = times, .norms = {{"x", norms_of_parts(gradient_or_nothing(x), times)}}, .matrix = {}});
  }
  for (std::size_t k = 0; k < run.states.size(); ++k) {
    std::int64_t products = 0;
    for (const Tensor& state : run.states[k].values) products += state.numel();
    if (products > max_products) continue;
    flows[k].matrix =
        jacobian_norms([&](const Tensor& x) { return computation.states(x).states[k].values; }, computation.x);
  }
  return flows;
}

}  // namespace retrace
