#include <retrace/core/record.h>

#include <cstring>

namespace retrace {
namespace {

template <class T>
void add_to(T* sum, const T* part, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k) sum[k] += part[k];
}

}  // namespace

Tensor SavedValue::tensor() const {
  retain(storage);
  return Tensor::over(storage, offset, node->shape, node->dtype);
}

bool Record::begin_gradient(Node* node) {
  if (node->gradient == nullptr) {
    node->gradient = allocate_storage(node->bytes());
    return false;
  }
  if (!node->gradient_used) {
    own_gradient(node);
    return true;
  }
  node->gradient_used = false;
  if (node->gradient->references > 1) {  // somebody still reads the last one
    release_gradient(node);
    node->gradient = allocate_storage(node->bytes());
  }
  return false;
}

void Record::begin_zeroed_gradient(Node* node) {
  if (!begin_gradient(node)) std::memset(node->gradient->data(), 0, node->bytes());
}

void Record::pass_gradient(int j, int i) {
  Node* from = nodes()[inputs_ + j];
  Node* to = nodes()[i];
  if (to->gradient == nullptr || to->gradient_used) {
    release_gradient(to);
    to->gradient_used = false;
    retain(from->gradient);
    to->gradient = from->gradient;  // shared: whoever adds to it next copies it first
    return;
  }
  own_gradient(to);
  dispatch_real(to->dtype, op_->name, [&](auto zero) {
    using T = decltype(zero);
    add_to(to->gradient_values<T>(), from->gradient_values<T>(), to->numel());
  });
}

void Record::add_gradient(int i, const Tensor& contribution) {
  const Node& input = in(i);
  if (contribution.shape() != input.shape)
    throw ShapeError(text(op_->name, ": backward gave a gradient of shape ", contribution.shape(), " for input ", i,
                          " of shape ", input.shape, "; they must be the same"));
  if (contribution.dtype() != input.dtype)
    throw DtypeError(text(op_->name, ": backward gave a gradient of dtype ", contribution.dtype(), " for input ", i,
                          " of dtype ", input.dtype, "; they must be the same"));
  dispatch_real(input.dtype, op_->name, [&](auto zero) {
    using T = decltype(zero);
    const T* values = contribution.values<T>().data();
    grad_in<T>(i).put(input.numel(), [values](std::int64_t k) { return values[k]; });
  });
}

}  // namespace retrace
