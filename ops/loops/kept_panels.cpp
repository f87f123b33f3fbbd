#include <retrace/ops/loops/kept_panels.h>

#include <algorithm>
#include <utility>

#include <retrace/core/tensor/node.h>
#include <retrace/core/tensor/op_access.h>

namespace retrace {
namespace {

thread_local KeptPanels* panels_in_scope = nullptr;

}  // namespace

KeptPanels::KeptPanels(const Tensors& weights) : outer_(panels_in_scope) {
  for (const Tensor& weight : weights) {
    check_defined("KeptPanels", weight, "a weight");
    const detail::Storage* storage = OpAccess::node(weight).storage;
    weights_.push_back({weight, storage, storage->version});
  }
  panels_.reserve(2 * weights_.size());  // a weight and its transpose: places stay where they are
  panels_in_scope = this;                // last: nothing that throws leaves it behind
}

bool KeptPanels::Kept::is_still_at(const void* values) const {
  const Node& node = OpAccess::node(weight);
  return node.elements == values && node.storage == storage && storage->version == version && !storage->is_exposed();
}

KeptPanels::~KeptPanels() { panels_in_scope = outer_; }

Tensor* KeptPanels::place_for(const Form& form) {
  if (panels_in_scope == nullptr) return nullptr;
  auto& [weights, panels, outer] = *panels_in_scope;
  if (std::ranges::none_of(weights, [&](const Kept& kept) { return kept.is_still_at(form.weight); })) return nullptr;
  const auto found = std::ranges::find(panels, form, &Panels::form);
  if (found != panels.end()) return &found->tensor;
  if (panels.size() == panels.capacity()) return nullptr;
  return &panels.emplace_back(Panels{form, {}}).tensor;
}

}  // namespace retrace
