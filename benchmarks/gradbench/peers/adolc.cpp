// ADOL-C as a tool of GradBench, for some of its evals. The functions are recorded while the input is prepared: what is
// timed is ADOL-C's forward and backward over its tape.
#include <retrace/benchmarks/gradbench/protocol.h>

#include <adolc/adolc.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace retrace::gradbench {
namespace {

using Active = std::vector<adouble>;
using Numbers = std::vector<double>;

Numbers numbers_of(const Tensor& x) { return {x.values<double>().begin(), x.values<double>().end()}; }
void append(Numbers& numbers, const Tensor& x) {
  numbers.insert(numbers.end(), x.values<double>().begin(), x.values<double>().end());
}

/// The gradient of y = f(x), of which f has recorded the elements of x and y.
template <class F> Run gradient_of(const F& f, const Numbers& x) {
  constexpr short tape = 1;
  trace_on(tape);
  Active active(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) active[k] <<= x[k];
  double y = 0;
  f(active) >>= y;
  trace_off();
  return [x]() mutable -> Answer {
    const auto size = static_cast<int>(x.size());
    Numbers result(x.size());
    ::gradient(tape, size, x.data(), result.data());
    return tensor(std::span<const double>(result), {size}, f64);
  };
}

adouble log_sum_exp(const adouble* x, std::size_t count, double further = 0) {
  adouble highest = x[0], total = 0;
  for (std::size_t k = 1; k < count; ++k) highest = fmax(highest, x[k]);
  for (std::size_t k = 0; k < count; ++k) total += exp(x[k] - highest);
  return highest + log(further == 0 ? total : total + further * exp(-highest));
}

Run lse(const Input& input) {
  return gradient_of([](const Active& x) { return log_sum_exp(x.data(), x.size()); }, numbers_of(input.tensor("x")));
}

Run llsq(const Input& input) {
  const auto n = static_cast<int>(input.integer("n"));
  const auto f = [n](const Active& x) {
    adouble total = 0;
    for (int i = 0; i < n; ++i) {
      const double t = -1 + 2.0 * i / (n - 1);
      double power = 1;
      adouble distance = t > 0 ? 1 : t < 0 ? -1 : 0;
      for (const adouble& each : x) distance -= each * power, power *= t;
      total += distance * distance;
    }
    return adouble(total / 2);
  };
  return gradient_of(f, numbers_of(input.tensor("x")));
}

Run ode(const Input& input) {
  const auto f = [steps = input.integer("s")](const Active& x) {
    const std::size_t n = x.size();
    const double h = 2.0 / static_cast<double>(steps);
    Active y(n), at(n), k(n), total(n);
    for (std::size_t i = 0; i < n; ++i) y[i] = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      at = y;
      for (int stage = 0; stage < 4; ++stage) {
        for (std::size_t i = 0; i < n; ++i) k[i] = i == 0 ? x[0] : x[i] * at[i - 1];
        for (std::size_t i = 0; i < n; ++i) {
          at[i] = y[i] + (stage == 2 ? h : h / 2) * k[i];
          total[i] = stage == 0 ? k[i] : total[i] + (stage == 3 ? 1 : 2) * k[i];
        }
      }
      for (std::size_t i = 0; i < n; ++i) y[i] += h / 6 * total[i];
    }
    return y[n - 1];
  };
  return gradient_of(f, numbers_of(input.tensor("x")));
}

Run lstm(const Input& input) {
  Numbers parameters = numbers_of(input.tensor("main_params"));
  append(parameters, input.tensor("extra_params"));
  const Tensor state = input.tensor("state"), letters = input.tensor("sequence");
  const auto f = [=](const Active& x) {
    const auto layers = static_cast<std::size_t>(state.dim(0) / 2), b = static_cast<std::size_t>(state.dim(1));
    const auto letter = letters.values<double>();
    const adouble* outer = x.data() + 8 * layers * b;
    const auto sigmoid = [](const adouble& v) { return adouble(1 / (1 + exp(-v))); };
    Active standing(2 * layers * b), y(b);
    for (std::size_t k = 0; k < standing.size(); ++k) standing[k] = state.values<double>()[k];
    adouble loss = 0;
    const auto steps = static_cast<std::size_t>(letters.dim(0)) - 1;
    for (std::size_t t = 0; t < steps; ++t) {
      for (std::size_t i = 0; i < b; ++i) {
        y[i] = letter[t * b + i] * outer[i];
        for (std::size_t layer = 0; layer < layers; ++layer) {
          const adouble *weight = x.data() + 8 * layer * b + i, *bias = weight + 4 * b;
          adouble &hidden = standing[2 * layer * b + i], &cell = standing[(2 * layer + 1) * b + i];
          const auto gate = [&](std::size_t k, const adouble& v) { return adouble(v * weight[k * b] + bias[k * b]); };
          cell = cell * sigmoid(gate(0, y[i])) + sigmoid(gate(1, hidden)) * tanh(gate(3, hidden));
          hidden = sigmoid(gate(2, y[i])) * tanh(cell);
          y[i] = hidden;
        }
        y[i] = y[i] * outer[b + i] + outer[2 * b + i];
      }
      const adouble total = log_sum_exp(y.data(), b, 2);
      for (std::size_t i = 0; i < b; ++i) loss -= letter[(t + 1) * b + i] * (y[i] - total);
    }
    return adouble(loss / static_cast<double>(steps * b));
  };
  return gradient_of(f, parameters);
}

Run gmm(const Input& input) {
  Numbers parameters = numbers_of(input.tensor("alpha"));
  for (const char* name : {"mu", "q", "l"}) append(parameters, input.tensor(name));
  const Tensor x = input.tensor("x");
  const auto k = static_cast<std::size_t>(input.integer("k"));
  const double gamma = input.number("gamma"), m = input.number("m");
  const auto f = [=](const Active& at) {
    const auto n = static_cast<std::size_t>(x.dim(0)), d = static_cast<std::size_t>(x.dim(1)), below = d * (d - 1) / 2;
    const adouble *alpha = at.data(), *mu = alpha + k, *q = mu + k * d, *l = q + k * d;
    Active diagonal(k * d), sum_q(k), product(d), term(k);
    adouble total = 0, squares = 0;
    for (std::size_t c = 0; c < k; ++c) {
      sum_q[c] = 0;
      for (std::size_t i = c * d; i < (c + 1) * d; ++i)
        diagonal[i] = exp(q[i]), sum_q[c] += q[i], squares += diagonal[i] * diagonal[i];
      total += m * sum_q[c];
    }
    for (std::size_t i = 0; i < k * below; ++i) squares += l[i] * l[i];
    total -= gamma * gamma / 2 * squares;
    for (std::size_t point = 0; point < n; ++point) {
      const auto place = x.values<double>().subspan(point * d, d);
      for (std::size_t c = 0; c < k; ++c) {
        const adouble* element = l + c * below;
        for (std::size_t i = 0; i < d; ++i) product[i] = diagonal[c * d + i] * (place[i] - mu[c * d + i]);
        for (std::size_t i = 0; i < d; ++i) {
          const adouble centred = place[i] - mu[c * d + i];
          for (std::size_t j = i + 1; j < d; ++j) product[j] += *element++ * centred;
        }
        term[c] = alpha[c] + sum_q[c];
        for (const adouble& each : product) term[c] -= each * each / 2;
      }
      total += log_sum_exp(term.data(), k);
    }
    return adouble(total - static_cast<double>(n) * log_sum_exp(alpha, k));  // without what is constant
  };
  return gradient_of(f, parameters);
}

constexpr Function lse_functions[] = {{"gradient", lse}}, llsq_functions[] = {{"gradient", llsq}};
constexpr Function ode_functions[] = {{"gradient", ode}}, lstm_functions[] = {{"jacobian", lstm}};
constexpr Function gmm_functions[] = {{"jacobian", gmm}};
constexpr Eval lse_eval{"lse", lse_functions}, llsq_eval{"llsq", llsq_functions}, ode_eval{"ode", ode_functions};
constexpr Eval lstm_eval{"lstm", lstm_functions}, gmm_eval{"gmm", gmm_functions};
constexpr const Eval* evals[] = {&lse_eval, &llsq_eval, &ode_eval, &lstm_eval, &gmm_eval};

}  // namespace
}  // namespace retrace::gradbench

int main() { return retrace::gradbench::serve({"ADOL-C", retrace::gradbench::evals}); }
