// Updates that deviate from the optimiser's formula. The weights of the library's optimiser must equal those that the
// formula gives in plain numbers.
#pragma once

#include <cmath>

#include <retrace/models/checks/bugs/bug_card.h>
#include <retrace/nn/nn.h>

namespace retrace::bugs {

struct WeightAndBias {
  Tensor weight = parameter(tensor({0.5}, f64)), bias = parameter(tensor({-0.3}, f64));
  void visit(auto&& see) const { see("weight", weight), see("bias", bias); }
};
/// Both after the library's optimiser has taken all steps.
template <class Optimiser> std::vector<double> by_library(const Descent& descent, const auto& options) {
  const WeightAndBias model;
  Optimiser optimiser(model, options);
  for (const std::vector<double>& gradient : descent.gradients) {
    Tape tape;
    tape.backward(sum(model.weight * gradient[0] + model.bias * gradient[1]));
    optimiser.step();
  }
  return {model.weight.item(), model.bias.item()};
}

inline std::vector<double> momentum(Version version, const Descent& descent) {
  const SgdOptions o{.lr = 0.1, .momentum = 0.9};
  if (version == Version::library) return by_library<Sgd>(descent, o);
  std::vector<double> w{0.5, -0.3}, v{0, 0};
  for (const std::vector<double>& g : descent.gradients)
    for (std::size_t k = 0; k < 2; ++k) {
      const bool reads_the_value = version == Version::bug && k == 1;
      v[k] = o.momentum * v[k] + (reads_the_value ? w[k] : g[k]);
      w[k] -= o.lr * v[k];
    }
  return w;
}

/// The deviations from AdamW in a report.
struct AdamWAsReported {
  bool coupled = false;     // weight decay in the gradient, as of Adam
  bool stays_at_1 = false;  // the number of the step
};
inline std::vector<double> adam_w(Version version, const Descent& descent, const AdamWAsReported& reported) {
  const AdamOptions o{.lr = 0.1, .weight_decay = 0.1};
  if (version == Version::library) return by_library<AdamW>(descent, o);
  const AdamWAsReported is = version == Version::bug ? reported : AdamWAsReported{};
  std::vector<double> w{0.5, -0.3}, m{0, 0}, v{0, 0};
  for (int step = 1; const std::vector<double>& gradient : descent.gradients) {
    const int t = is.stays_at_1 ? 1 : step++;
    for (std::size_t k = 0; k < 2; ++k) {
      const double g = gradient[k] + (is.coupled ? o.weight_decay * w[k] : 0);
      if (!is.coupled) w[k] *= 1 - o.lr * o.weight_decay;
      m[k] = o.b1 * m[k] + (1 - o.b1) * g;
      v[k] = o.b2 * v[k] + (1 - o.b2) * g * g;
      w[k] -= o.lr * (m[k] / (1 - std::pow(o.b1, t))) / (std::sqrt(v[k] / (1 - std::pow(o.b2, t))) + o.eps);
    }
  }
  return w;
}
inline std::vector<double> adam_w_as_adam(Version version, const Descent& descent) {
  return adam_w(version, descent, {.coupled = true});
}
inline std::vector<double> adam_w_at_one_step(Version version, const Descent& descent) {
  return adam_w(version, descent, {.stays_at_1 = true});
}

inline constexpr BugCard optimisers[] = {
    {"apache/systemds#2330", "momentum: reads the values of a bias for its gradient", BugClass::optimiser, nullptr,
     momentum},
    {"nntrainer#3527", "AdamW acts as Adam", BugClass::optimiser, nullptr, adam_w_as_adam},
    {"allenai/OLMo-core#317", "AdamW: the number of the step does not advance", BugClass::optimiser, nullptr,
     adam_w_at_one_step},
};

}  // namespace retrace::bugs
