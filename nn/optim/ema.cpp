#include <retrace/nn/optim/ema.h>

#include <algorithm>
#include <utility>

#include <retrace/nn/optim/number_range.h>

namespace retrace {

Ema::Ema(std::vector<NamedTensor> parameters, const EmaOptions& options)
    : parameters_(std::move(parameters)), options_(options) {
  check_number("Ema", "the decay", options.decay, from_0_to_below_1, "such as 0.999");
  for (const auto& [name, tensor] : parameters_) {
    check_defined("Ema", tensor, name.c_str());
    averages_.push_back({name, tensor.clone()});
  }
}

void Ema::check_dtypes() const {
  for (std::size_t k = 0; k < parameters_.size(); ++k)
    if (const Tensor& w = parameters_[k].tensor, &a = averages_[k].tensor; w.dtype() != a.dtype())
      throw DtypeError(text("Ema: parameter ", parameters_[k].name, " is ", w.dtype(), ", but its average is ",
                            a.dtype(), "; make the average after converting the model"));
}

void Ema::update() {
  if (swapped_) throw ValueError("Ema: update() while the averages are swapped in; swap() them back first");
  check_dtypes();
  const double count = static_cast<double>(++updates_);
  const double decay = options_.rising ? std::min(options_.decay, count / (count + 9)) : options_.decay;
  for (std::size_t k = 0; k < parameters_.size(); ++k)
    dispatch_real(parameters_[k].tensor.dtype(), "Ema", [&]<class T>(T) {
      const auto w = parameters_[k].tensor.values<T>();
      const T rest = static_cast<T>(1 - decay);
      averages_[k].tensor.update<T>([&](std::span<T> a) {
        for (std::size_t i = 0; i < w.size(); ++i) a[i] += rest * (w[i] - a[i]);
      });
    });
}

void Ema::swap() {
  if (!swapped_) check_dtypes();
  for (std::size_t k = 0; k < parameters_.size(); ++k) exchange_values(parameters_[k].tensor, averages_[k].tensor);
  swapped_ = !swapped_;
}

}  // namespace retrace
