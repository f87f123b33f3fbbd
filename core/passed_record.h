// Releases what a record holds for its backward, once the walk has passed it or its tape ends.
#pragma once

#include <retrace/core/node.h>
#include <retrace/core/record.h>

namespace retrace {

[[gnu::always_inline]] inline void Record::pass_by() {
  is_passed_ = true;
  SavedValue* value = saved_list_;
  for (SavedValue* const end = value + saved_; value != end; ++value) {
    Node* const node = node_of(value->info_);
    if (node == nullptr) continue;
    if (value->storage_ != nullptr) release(value->storage_);
    value->storage_ = nullptr;
    value->info_ = nullptr;
    release_from_tape(node);
  }
  TensorInfo** info = nodes_ + inputs_;
  for (TensorInfo** const end = info + outputs_; info != end; ++info) {
    Node* const output = node_of(*info);
    output->awaits_gradient = false;
    if (output->handles == 0) release_gradient(output);
  }
}

}  // namespace retrace
