#include <retrace/models/training/best_parameters.h>

namespace retrace {

BestParameters::BestParameters(const std::vector<NamedTensor>& parameters) : live_(parameters) {
  for (const NamedTensor& parameter : live_) best_.push_back(parameter.tensor.clone());
}

bool BestParameters::offer(std::int64_t step, const Evaluation& validation) {
  if (!(validation.loss < validation_.loss)) return false;
  take(step, validation);
  return true;
}

void BestParameters::take(std::int64_t step, const Evaluation& validation) {
  step_ = step;
  validation_ = validation;
  for (std::size_t k = 0; k < live_.size(); ++k) copy_values(live_[k].tensor, best_[k]);
}

void BestParameters::restore() const {
  for (std::size_t k = 0; k < live_.size(); ++k) copy_values(best_[k], live_[k].tensor);
}

std::vector<NamedTensor> BestParameters::state() const {
  std::vector<NamedTensor> result;
  for (std::size_t k = 0; k < live_.size(); ++k) result.push_back({live_[k].name, best_[k]});
  return result;
}

}  // namespace retrace
