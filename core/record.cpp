#include <retrace/core/record.h>

namespace retrace {

Tensor SavedValue::tensor() const {
  retain(storage);
  return Tensor::over(storage, offset, node->shape, node->dtype);
}

Formulas Record::formulas() const {
  if (op_->formulas_of_call != nullptr) return op_->formulas_of_call(*this);
  return {op_->forward, op_->backward};
}

}  // namespace retrace
