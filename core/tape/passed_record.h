// Releases what a record holds for its backward, once the walk has passed it or its tape ends.
#pragma once

#include <retrace/core/tape/record.h>
#include <retrace/core/tensor/node.h>

namespace retrace {

[[gnu::always_inline]] inline void Record::pass_by() {
  is_passed_ = true;
  SavedValue* value = saved_list_;
  for (SavedValue* const end = value + saved_; value != end; ++value) {
    if (value->storage_ != nullptr) release(value->storage_);
    value->storage_ = nullptr;
  }
  TensorInfo** info = nodes_ + inputs_;
  for (TensorInfo** const end = info + outputs_; info != end; ++info) {
    Node* const output = node_of(*info);
    output->awaits_gradient = false;
    if (output->has_no_handle()) release_gradient(output);
  }
}

}  // namespace retrace
