#include <retrace/core/op_access.h>
#include <retrace/core/record.h>

namespace retrace {

Tensor SavedValue::tensor() const {
  retain(storage_);
  return OpAccess::over(storage_, elements_, info_->shape, info_->dtype);
}

Tensor Record::input(int i) const { return OpAccess::handle(*node_of(nodes_[i])); }

Tensor Record::output(int j) const { return OpAccess::handle(*node_of(nodes_[inputs_ + j])); }

Formulas Record::formulas() const {
  if (op_->formulas_of_call != nullptr) return op_->formulas_of_call(*this);
  return {op_->forward, op_->backward};
}

}  // namespace retrace
