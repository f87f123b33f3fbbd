// The sum over n points of the squared distance to the nearest of k centroids, and the step of Newton's method.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

namespace retrace::gradbench {
namespace {

// The nearest centroid of each point, [n]: that with the least |c|^2 - 2 p c.
Tensor nearest(const Tensor& points, const Tensor& centroids) {
  constexpr std::int64_t block = 1024;
  const Tensor squares = sum(square(centroids), 1);
  Tensors parts;
  for (std::int64_t first = 0; first < points.dim(0); first += block) {
    const Tensor some = slice(points, {range(first, first + block)});
    parts.push_back(argmin(squares - 2 * matmul(some, centroids, {.transpose_b = true})));
  }
  return concat(parts);
}

Tensor cost_of(const Tensor& points, const Tensor& centroids, const Tensor& ids) {
  return sum(square(points - take(centroids, ids)));
}

Run cost(const Input& input) {
  return [points = input.tensor("points"), centroids = input.tensor("centroids")] {
    return cost_of(points, centroids, nearest(points, centroids));
  };
}
// The gradient divided by the diagonal of the Hessian, which has nothing else. Which centroid is nearest is constant
// around where it is differentiated.
Run direction(const Input& input) {
  return [points = input.tensor("points"), centroids = input.tensor("centroids")] {
    const Tensor ids = nearest(points, centroids);
    const auto f = [&](const Tensor& at) { return cost_of(points, at, ids); };
    return gradient_of(f, centroids) / hvp(f, centroids, ones_like(centroids));
  };
}
constexpr Function functions[] = {{"cost", cost}, {"dir", direction}};

}  // namespace

const Eval kmeans{"kmeans", functions};

}  // namespace retrace::gradbench
