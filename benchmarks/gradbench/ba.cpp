// Bundle adjustment: how far the projections of points by cameras are from where they were seen, and its Jacobian. All
// cameras, points and observations of an input are alike: it has one of each, and their numbers.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

#include <algorithm>
#include <vector>

namespace retrace::gradbench {
namespace {

constexpr std::int64_t camera_size = 11, point_size = 3;

/// n cameras [n, 11], m points [m, 3], p observations of a point by a camera, with weights [p], at places [2].
struct Scene {
  Tensor cameras, points, weights, seen;
  Tensor camera_ids, point_ids;  // [p], i64
};

Tensor columns(const Tensor& x, std::int64_t first, std::int64_t count) {
  return slice(x, {all, range(first, first + count)});
}
Tensor column(const Tensor& x, std::int64_t k) { return columns(x, k, 1); }

Tensor cross(const Tensor& a, const Tensor& b) {
  const auto part = [&](int i, int j) { return column(a, i) * column(b, j) - column(a, j) * column(b, i); };
  return concat({part(1, 2), part(2, 0), part(0, 1)}, 1);
}

// Each row of x turned around that of r, by its length: the formula of Rodrigues; x + r x for a length of 0.
Tensor rotated(const Tensor& r, const Tensor& x) {
  const Tensor squares = sum(square(r), 1, {.keepdims = true}), still = equal(squares, 0);
  const Tensor angle = sqrt(where(still, 1, squares)), axis = r / angle, cosine = cos(angle);
  const Tensor along = axis * sum(axis * x, 1, {.keepdims = true});
  return where(still, x + cross(r, x), x * cosine + cross(axis, x) * sin(angle) + along * (1 - cosine));
}

// [p, 2] from the cameras [p, 11] (rotation, centre, focal length, principal point, radial distortion), points [p, 3]
// and weights [p, 1] of the observations.
Tensor errors(const Tensor& camera, const Tensor& point, const Tensor& weight, const Tensor& seen) {
  const Tensor turned = rotated(columns(camera, 0, 3), point - columns(camera, 3, 3));
  const Tensor flat = columns(turned, 0, 2) / column(turned, 2), r2 = sum(square(flat), 1, {.keepdims = true});
  const Tensor bent = flat * (1 + column(camera, 9) * r2 + column(camera, 10) * square(r2));
  return weight * (bent * column(camera, 6) + columns(camera, 7, 2) - seen);
}
Tensor weight_errors(const Tensor& weight) { return 1 - square(weight); }

Scene scene_of(const Input& input) {
  const std::int64_t n = input.integer("n"), m = input.integer("m"), p = input.integer("p");
  std::vector<std::int64_t> cameras, points;
  for (std::int64_t k = 0; k < p; ++k) cameras.push_back(k % n), points.push_back(k % m);
  return {broadcast_to(input.tensor("cam"), {n, camera_size}),
          broadcast_to(input.tensor("x"), {m, point_size}),
          broadcast_to(input.tensor("w"), {p, 1}),
          input.tensor("feat"),
          indices(std::span<const std::int64_t>(cameras), {p}),
          indices(std::span<const std::int64_t>(points), {p})};
}

Run objective(const Input& input) {
  return [scene = scene_of(input)]() -> Answer {
    const Tensor camera = take(scene.cameras, scene.camera_ids), point = take(scene.points, scene.point_ids);
    const Tensor error = errors(camera, point, scene.weights, scene.seen), weight = weight_errors(scene.weights);
    const Tensor repeated = indices(scene.weights.dim(0));
    return std::map<std::string, Answer>{
        {"reproj_error", std::map<std::string, Answer>{{"elements", error[0]}, {"repeated", repeated}}},
        {"w_err", std::map<std::string, Answer>{{"element", weight[0][0]}, {"repeated", repeated}}}};
  };
}

/// A sparse matrix: the elements of row i are those from rows[i] to rows[i + 1].
struct SparseMatrix {
  std::vector<std::int64_t> rows{0}, columns;
  std::vector<double> values;
};

// An error depends on nothing but its own observation: one backward for all first errors, and one for all second ones.
Tensors rows_of_jacobian(const Scene& scene, int error) {
  const Tensors x{take(scene.cameras, scene.camera_ids), take(scene.points, scene.point_ids), scene.weights};
  const auto f = [&](const Tensors& at) { return column(errors(at[0], at[1], at[2], scene.seen), error); };
  return vjp(f, x, ones({scene.weights.dim(0), 1}, f64));
}

SparseMatrix jacobian_of(const Scene& scene) {
  const std::int64_t n = scene.cameras.dim(0), m = scene.points.dim(0), p = scene.weights.dim(0);
  const Tensors errors[] = {rows_of_jacobian(scene, 0), rows_of_jacobian(scene, 1)};
  SparseMatrix result;
  const auto add = [&](const Tensor& x, std::int64_t row, std::int64_t first_column) {
    const std::int64_t size = x.dim(1);
    const auto values =
        x.values<double>().subspan(static_cast<std::size_t>(row * size), static_cast<std::size_t>(size));
    result.values.insert(result.values.end(), values.begin(), values.end());
    for (std::int64_t k = 0; k < size; ++k) result.columns.push_back(first_column + k);
  };
  const auto end_row = [&] { result.rows.push_back(std::ssize(result.values)); };
  const auto cameras = scene.camera_ids.values<std::int64_t>(), points = scene.point_ids.values<std::int64_t>();
  const std::int64_t first_weight = camera_size * n + point_size * m;
  for (std::int64_t k = 0; k < p; ++k)
    for (const Tensors& error : errors) {
      add(error[0], k, camera_size * cameras[static_cast<std::size_t>(k)]);
      add(error[1], k, camera_size * n + point_size * points[static_cast<std::size_t>(k)]);
      add(error[2], k, first_weight + k);
      end_row();
    }
  const Tensor weights = vjp(weight_errors, scene.weights, ones_like(scene.weights));
  for (std::int64_t k = 0; k < p; ++k) add(weights, k, first_weight + k), end_row();
  return result;
}

// As GradBench compares it: the elements of the first two rows, and the last one.
template <class T> std::vector<T> both_ends(const std::vector<T>& list) {
  constexpr std::size_t first = 2 * (camera_size + point_size + 1);
  std::vector<T> result(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(std::min(first, list.size())));
  result.push_back(list.back());
  return result;
}

Run jacobian(const Input& input) {
  return [scene = scene_of(input)]() -> Answer {
    const SparseMatrix matrix = jacobian_of(scene);
    const auto rows = both_ends(matrix.rows), columns = both_ends(matrix.columns);
    const auto values = both_ends(matrix.values);
    const Shape all_rows{std::ssize(rows)}, elements{std::ssize(values)};
    return std::map<std::string, Answer>{{"rows", indices(std::span<const std::int64_t>(rows), all_rows)},
                                         {"cols", indices(std::span<const std::int64_t>(columns), elements)},
                                         {"vals", tensor(std::span<const double>(values), elements, f64)}};
  };
}
constexpr Function functions[] = {{"objective", objective}, {"jacobian", jacobian}};

}  // namespace

const Eval ba{"ba", functions};

}  // namespace retrace::gradbench
