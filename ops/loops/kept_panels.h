// Weights that stay packed while several calls multiply with them.
#pragma once

#include <cstdint>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// During its lifetime, recurrent ops of this thread pack each of these weights once, not once a call; one that has
/// changed meanwhile is packed by every call again. For parts of a batch that are computed one after the other: the
/// fewer rows a part has, the more of its time would go into packing.
class KeptPanels {
 public:
  explicit KeptPanels(const Tensors& weights);
  ~KeptPanels();
  KeptPanels(const KeptPanels&) = delete;
  KeptPanels& operator=(const KeptPanels&) = delete;

  /// How a weight is packed (kernels::pack_right_factor).
  struct Form {
    const void* weight;  // its values
    std::int64_t k, n;
    bool transposed;
    bool operator==(const Form&) const = default;
  };
  /// The place for the panels of a weight, undefined before the first call; null if they are not to be kept.
  static Tensor* place_for(const Form& form);

 private:
  struct Panels {
    Form form;
    Tensor tensor;
  };
  /// A weight as it was in the beginning.
  struct Kept {
    Tensor weight;
    const detail::Storage* storage;
    std::uint64_t version;
    bool is_still_at(const void* values) const;
  };
  std::vector<Kept> weights_;
  std::vector<Panels> panels_;
  KeptPanels* outer_;
};

}  // namespace retrace
