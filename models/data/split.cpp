#include <retrace/models/data/split.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace retrace {

Split split(std::int64_t samples, double test_part, Random& random) {
  if (samples < 0) throw ValueError(text("split: there are ", samples, " samples; give 0 or more"));
  if (!(test_part >= 0 && test_part <= 1))
    throw ValueError(text("split: test_part is ", test_part, "; it is a fraction of the samples, from 0 to 1"));
  const std::vector<std::int64_t> order = random.permutation(samples);
  // 0.29 * 100 is 28.999999999999996: a product that close to an integer is that integer.
  const auto test = static_cast<std::int64_t>(std::floor(static_cast<double>(samples) * test_part * (1 + 1e-15)));
  const std::span<const std::int64_t> shuffled(order);
  const auto first = shuffled.first(static_cast<std::size_t>(std::min(test, samples)));
  const auto rest = shuffled.subspan(first.size());
  return {.train = indices(rest, {static_cast<std::int64_t>(rest.size())}),
          .test = indices(first, {static_cast<std::int64_t>(first.size())})};
}

}  // namespace retrace
