// Mini-batches: every sample once per epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <retrace/core/tensor/random.h>

namespace retrace {

/// Positions of `samples` samples in batches of `batch_size`; the last one may be shorter, and is kept.
///
///   const Batches batches(x.dim(0), 32, random.stream("batches"));
///   for (std::int64_t epoch = 0; epoch < 10; ++epoch)
///     for (const Tensor& rows : batches.epoch(epoch)) step(take(x, rows), take(y, rows));
class Batches {
 public:
  /// In the same order in every epoch. Throws ValueError for fewer than 0 samples, or 1 in a batch.
  Batches(std::int64_t samples, std::int64_t batch_size);
  /// In a new order in every epoch, which depends only on the generator and the number of the epoch.
  Batches(std::int64_t samples, std::int64_t batch_size, const Random& random);

  /// Batches per epoch.
  std::int64_t size() const;
  /// The batches' positions, each [batch_size] or less, i64.
  std::vector<Tensor> epoch(std::int64_t number) const;

 private:
  std::int64_t samples_;
  std::int64_t batch_size_;
  std::optional<Random> random_;
};

}  // namespace retrace
