// Hand tracking: how far the surface of a hand, posed by 26 numbers, is from measured points, and the Jacobian.
#include <retrace/benchmarks/gradbench/retrace_tool.h>

#include <vector>

namespace retrace::gradbench {
namespace {

/// Bones, each after its parent (-1: none), and vertices, which follow the bones by weights. Matrices are [4, 4], and
/// vertices have four coordinates, the last of which is 1.
struct Hand {
  std::vector<std::int64_t> parents;
  Tensor relatives, inverses;  // [bones, 4, 4]: to the parent, and from where the bone is at rest
  Tensor vertices, weights;    // [vertices, 4], [vertices, bones]
  Tensor triangles;            // [triangles, 3], i64
  bool mirrored;
};
/// Measured points [points, 3], and the vertex, or with barycentric coordinates the triangle, where each must be.
struct Data {
  Hand hand;
  Tensor points, places;
};

Tensor matrices(const Tensors& elements) { return reshape(stack(elements, -1), {-1, 3, 3}); }

// Rotations [bones, 3, 3] about x, then y, then z, by angles [bones, 3] in the order x, z, y.
Tensor rotations(const Tensor& angles) {
  const Tensor cosines = cos(angles), sines = sin(angles);
  const auto of = [](const Tensor& x, int k) { return slice(x, {all, k}); };
  const Tensor cx = of(cosines, 0), cz = of(cosines, 1), cy = of(cosines, 2);
  const Tensor sx = of(sines, 0), sz = of(sines, 1), sy = of(sines, 2), zero = zeros_like(cx), one = ones_like(cx);
  const Tensor about_x = matrices({one, zero, zero, zero, cx, -sx, zero, sx, cx});
  const Tensor about_y = matrices({cy, zero, sy, zero, one, zero, -sy, zero, cy});
  const Tensor about_z = matrices({cz, -sz, zero, sz, cz, zero, zero, zero, one});
  return matmul(matmul(about_z, about_y), about_x);
}

// The rotation [3, 3] about the axis r by the angle |r|.
Tensor rotation(const Tensor& r) {
  const Tensor angle = norm(r);
  if (angle.item() < 1e-4) return eye(3, 3, f64);
  const Tensor axis = r / angle, cosine = cos(angle), zero = zeros_like(axis[0]);
  const Tensor cross =
      reshape(stack({zero, -axis[2], axis[1], axis[2], zero, -axis[0], -axis[1], axis[0], zero}), {3, 3});
  return cosine * eye(3, 3, f64) + sin(angle) * cross + (1 - cosine) * outer(axis, axis);
}

// The angles [bones, 3]. From bone 2 on, each of five fingers has four bones: one that bends and spreads, two that bend
// and one that is still. Their angles are in theta from element 6 on. All other bones are still.
Tensor bone_angles(const Tensor& theta, std::int64_t bones) {
  const std::int64_t still = theta.numel();  // the element after the last, 0
  std::vector<std::int64_t> elements(static_cast<std::size_t>(3 * bones), still);
  std::int64_t next = 6;
  for (std::size_t finger = 0; finger < 5; ++finger)
    for (std::size_t joint = 0; joint < 3; ++joint) {
      const std::size_t bone = 2 + 4 * finger + joint;
      elements[3 * bone] = next++;
      if (joint == 0) elements[3 * bone + 1] = next++;
    }
  const Tensor ids = indices(std::span<const std::int64_t>(elements), {3 * bones});
  return reshape(take(concat({theta, zeros({1}, f64)}), ids), {bones, 3});
}

// The transform of each bone, which moves a vertex from where it is at rest: [bones, 3, 4].
Tensor bone_transforms(const Tensor& theta, const Hand& hand) {
  const auto bones = std::ssize(hand.parents);
  const Tensor corner = tensor({{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 1}}, f64);
  const Tensor turns = pad(rotations(bone_angles(theta, bones)), {{0, 0}, {0, 1}, {0, 1}}) + corner;
  const Tensor relatives = matmul(hand.relatives, turns);
  Tensors absolutes;
  for (std::int64_t bone = 0; bone < bones; ++bone) {
    const std::int64_t parent = hand.parents[static_cast<std::size_t>(bone)];
    absolutes.push_back(parent < 0 ? relatives[bone]
                                   : matmul(absolutes[static_cast<std::size_t>(parent)], relatives[bone]));
  }
  return slice(matmul(stack(absolutes), hand.inverses), {all, range(0, 3)});
}

// The posed vertices, [vertices, 3].
Tensor surface(const Tensor& theta, const Hand& hand) {
  const Tensor transforms = reshape(bone_transforms(theta, hand), {-1, 12});
  const Tensor blended = reshape(matmul(hand.weights, transforms), {-1, 3, 4});
  Tensor vertices = squeeze(matmul(blended, unsqueeze(hand.vertices, -1)), -1);
  if (hand.mirrored) vertices = vertices * tensor({-1, 1, 1}, f64);
  const Tensor turn = rotation(slice(theta, {range(0, 3)}));
  return matmul(vertices, turn, {.transpose_b = true}) + slice(theta, {range(3, 6)});
}

// [points, 3]; us [points, 2], the first two barycentric coordinates in the triangles, may be undefined.
Tensor errors(const Tensor& theta, const Tensor& us, const Data& data) {
  const Tensor vertices = surface(theta, data.hand);
  if (!us.defined()) return data.points - take(vertices, data.places);
  const Tensor corners = embedding(vertices, take(data.hand.triangles, data.places));  // [points, 3, 3]
  const Tensor coordinates = concat({us, 1 - sum(us, 1, {.keepdims = true})}, 1);
  return data.points - sum(corners * unsqueeze(coordinates, -1), 1);
}

/// theta, us (undefined if the input has none) and the data.
struct Problem {
  Tensor theta, us = {};
  Data data;
};

Problem problem_of(const Input& input) {
  const Input data = input.object("data"), model = data.object("model");
  const auto parents = model.indices("parents");
  Problem problem{.theta = input.tensor("theta"),
                  .data = {{.parents = {parents.values<std::int64_t>().begin(), parents.values<std::int64_t>().end()},
                            .relatives = model.tensor("base_relatives"),
                            .inverses = model.tensor("inverse_base_absolutes"),
                            .vertices = model.tensor("base_positions"),
                            .weights = model.tensor("weights"),
                            .triangles = model.indices("triangles"),
                            .mirrored = model.truth("is_mirrored")},
                           data.tensor("points"),
                           data.indices("correspondences")}};
  if (const Tensor us = input.tensor("us"); us.numel() > 0) problem.us = us;
  return problem;
}

Run objective(const Input& input) {
  return [problem = problem_of(input)] { return reshape(errors(problem.theta, problem.us, problem.data), {-1}); };
}

// [3 points, 26], or 28 columns with us: a point's errors depend only on its own coordinates, so one derivative moves
// those of all points at once.
Run jacobian(const Input& input) {
  return [problem = problem_of(input)]() -> Answer {
    const auto& [theta, us, data] = problem;
    const auto of_theta = [&, us = us, data = data](const Tensor& at) { return errors(at, us, data); };
    const Tensor columns = retrace::jacobian(of_theta, theta);
    if (!us.defined()) return columns;
    const auto of_us = [&, theta = theta, data = data](const Tensor& at) { return errors(theta, at, data); };
    Tensors parts;
    for (const Tensor& direction : {tensor({1, 0}, f64), tensor({0, 1}, f64)})
      parts.push_back(reshape(jvp(of_us, us, broadcast_to(direction, us.shape())), {-1, 1}));
    parts.push_back(columns);
    return concat(parts, 1);
  };
}
constexpr Function functions[] = {{"objective", objective}, {"jacobian", jacobian}};

}  // namespace

const Eval ht{"ht", functions};

}  // namespace retrace::gradbench
