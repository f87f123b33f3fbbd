#include <retrace/core/base/printable.h>
#include <retrace/models/training/check_finite.h>

#include <algorithm>
#include <cmath>

namespace retrace {
namespace {

bool is_finite(const Tensor& tensor) {
  return dispatch_any(tensor.dtype(), [&](auto zero) {
    return std::ranges::all_of(tensor.values<decltype(zero)>(),
                               [](auto x) { return std::isfinite(static_cast<double>(x)); });
  });
}

}  // namespace

void check_finite(const std::string& path, const std::vector<NamedTensor>& weights) {
  std::string names;
  for (const NamedTensor& weight : weights)
    if (!is_finite(weight.tensor)) names += text(names.empty() ? "" : ", ", printable(weight.name));
  if (!names.empty())
    throw FileError(text("retrace: ", path, " has weights that are not finite numbers: ", names,
                         "; train the model again, with a lower learning rate"));
}

}  // namespace retrace
