#include <retrace/models/data/batches.h>

#include <algorithm>
#include <numeric>
#include <span>

namespace retrace {

Batches::Batches(std::int64_t samples, std::int64_t batch_size) : samples_(samples), batch_size_(batch_size) {
  if (samples < 0) throw ValueError(text("Batches: there are ", samples, " samples; give 0 or more"));
  if (batch_size < 1) throw ValueError(text("Batches: batch_size is ", batch_size, "; it has to be 1 or more"));
}

Batches::Batches(std::int64_t samples, std::int64_t batch_size, const Random& random) : Batches(samples, batch_size) {
  random_ = random;
}

std::int64_t Batches::size() const { return samples_ / batch_size_ + (samples_ % batch_size_ == 0 ? 0 : 1); }

std::vector<Tensor> Batches::epoch(std::int64_t number) const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(samples_));
  if (random_)
    order = random_->stream(static_cast<std::uint64_t>(number)).permutation(samples_);
  else
    std::iota(order.begin(), order.end(), std::int64_t{0});
  std::vector<Tensor> batches;
  for (std::span<const std::int64_t> rest(order); !rest.empty();) {
    const std::size_t count = std::min(rest.size(), static_cast<std::size_t>(batch_size_));
    batches.push_back(indices(rest.first(count), {static_cast<std::int64_t>(count)}));
    rest = rest.subspan(count);
  }
  return batches;
}

}  // namespace retrace
