#include <retrace/ops/loops/kept_panels.h>

#include <algorithm>
#include <utility>

namespace retrace {
namespace {

thread_local KeptPanels* panels_in_scope = nullptr;

const void* values_of(const Tensor& x) {
  return dispatch_any(x.dtype(), [&](auto zero) -> const void* { return x.values<decltype(zero)>().data(); });
}

}  // namespace

KeptPanels::KeptPanels(const Tensors& weights) : outer_(std::exchange(panels_in_scope, this)) {
  for (const Tensor& weight : weights) weights_.push_back(values_of(weight));
  panels_.reserve(2 * weights_.size());  // a weight and its transpose: places stay where they are
}

KeptPanels::~KeptPanels() { panels_in_scope = outer_; }

Tensor* KeptPanels::place_for(const Form& form) {
  if (panels_in_scope == nullptr) return nullptr;
  auto& [weights, panels, outer] = *panels_in_scope;
  const auto found = std::ranges::find(panels, form, &Panels::form);
  if (found != panels.end()) return &found->tensor;
  const bool is_kept = std::ranges::find(weights, form.weight) != weights.end();
  if (!is_kept || panels.size() == panels.capacity()) return nullptr;
  return &panels.emplace_back(Panels{form, {}}).tensor;
}

}  // namespace retrace
