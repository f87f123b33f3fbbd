// Jacobians are those of plain loops and differences.
#include <retrace/tests/gradbench/gradbench_test.h>

namespace retrace::gradbench {
namespace {

TEST_F(GradBench, BundleAdjustment) {
  for (const bool turned : {true, false}) {
    Numbers x = some(15);  // a camera, a point and a weight
    x[13] += 5;            // in front of the camera
    if (!turned) x[0] = x[1] = x[2] = 0;
    const Numbers seen = some(2);
    const Json input = Json::Object{{"n", 2},
                                    {"m", 3},
                                    {"p", 12},
                                    {"cam", Numbers(x.begin(), x.begin() + 11)},
                                    {"x", Numbers(x.begin() + 11, x.begin() + 14)},
                                    {"w", x[14]},
                                    {"feat", seen}};
    const Json errors = output("ba", "objective", input);
    expect_near(numbers_in(errors["reproj_error"]["elements"]), plain::projection_errors(x, seen), 1e-13);
    EXPECT_EQ(errors["reproj_error"]["repeated"], 12);
    EXPECT_NEAR(errors["w_err"]["element"].get<double>(), 1 - x[14] * x[14], 1e-15);
    EXPECT_EQ(errors["w_err"]["repeated"], 12);
    Numbers expected;
    for (const std::size_t row : {0U, 1U}) {
      const auto f = [&](const Numbers& at) { return plain::projection_errors(at, seen)[row]; };
      for (const double each : plain::differences(f, x)) expected.push_back(each);
    }
    expected.push_back(-2 * x[14]);
    const Json jacobian = output("ba", "jacobian", input);
    expect_near(numbers_in(jacobian["vals"]), expected);
    // The columns: 2 cameras, 3 points, 12 weights; the rows: 24 of 15 elements, 12 of one.
    const Numbers columns = numbers_in(jacobian["cols"]), rows = numbers_in(jacobian["rows"]);
    EXPECT_EQ(Numbers(columns.begin() + 10, columns.begin() + 16), (Numbers{10, 22, 23, 24, 31, 0}));
    EXPECT_EQ(columns.back(), 2 * 11 + 3 * 3 + 12 - 1);
    EXPECT_EQ(Numbers(rows.begin(), rows.begin() + 3), (Numbers{0, 15, 30}));
    EXPECT_EQ(rows[29], 24 * 15 + 5);
    EXPECT_EQ(rows.back(), 24 * 15 + 12);
  }
}

TEST_F(GradBench, HandTracking) {
  constexpr std::size_t bones = 22, vertices = 3;
  plain::Hand hand{{},  some_rows(bones, 16), some_rows(bones, 16), some_rows(vertices, 4), some_rows(vertices, bones),
                   true};
  for (std::size_t bone = 0; bone < bones; ++bone)
    hand.parents.push_back(bone < 2 ? static_cast<int>(bone) - 1 : bone % 4 == 2 ? 0 : static_cast<int>(bone) - 1);
  for (Matrix* matrices : {&hand.relatives, &hand.inverses})  // as small as those of a hand
    for (Numbers& matrix : *matrices)
      for (std::size_t k = 0; k < 16; ++k) matrix[k] = (k % 5 == 0 ? 1 : 0) + 0.2 * matrix[k];
  const Numbers theta = some(26);
  const Matrix points = some_rows(2, 3), us = some_rows(2, 2);
  const auto squares = [](const Matrix& matrices) {
    std::vector<Matrix> result;
    for (const Numbers& matrix : matrices) result.push_back(plain::rows_of(matrix, 4));
    return result;
  };
  const Json model = Json::Object{{"parents", hand.parents},
                                  {"base_relatives", squares(hand.relatives)},
                                  {"inverse_base_absolutes", squares(hand.inverses)},
                                  {"base_positions", hand.vertices},
                                  {"weights", hand.weights},
                                  {"triangles", std::vector<std::vector<int>>{{0, 1, 2}, {2, 0, 1}}},
                                  {"is_mirrored", true}};
  for (const bool by_triangle : {false, true}) {
    const std::vector<int> places = by_triangle ? std::vector{1, 0} : std::vector{2, 1};
    const Json data = Json::Object{{"model", model}, {"correspondences", places}, {"points", points}};
    const Json input = Json::Object{{"theta", theta}, {"data", data}, {"us", by_triangle ? us : Matrix()}};
    // u [2] moves the coordinates of both points.
    const auto errors = [&](const Numbers& at) {
      const Matrix posed = plain::posed(Numbers(at.end() - 26, at.end()), hand);
      Numbers result;
      for (std::size_t point = 0; point < 2; ++point) {
        Numbers shares(vertices);
        if (by_triangle) {
          const std::size_t first = point == 0 ? 2 : 0;  // the triangles 1 and 0 begin with these vertices
          const double u = us[point][0] + at[0], v = us[point][1] + at[1];
          shares[first] = u, shares[(first + 1) % 3] = v, shares[(first + 2) % 3] = 1 - u - v;
        } else {
          shares[static_cast<std::size_t>(places[point])] = 1;
        }
        for (std::size_t axis = 0; axis < 3; ++axis) {
          result.push_back(points[point][axis]);
          for (std::size_t vertex = 0; vertex < vertices; ++vertex)
            result.back() -= shares[vertex] * posed[vertex][axis];
        }
      }
      return result;
    };
    Numbers x(by_triangle ? 2 : 0);
    x.insert(x.end(), theta.begin(), theta.end());
    expect_near(numbers_in(output("ht", "objective", input)), errors(x), 1e-12);
    Numbers expected;
    for (std::size_t row = 0; row < 6; ++row)
      for (const double each : plain::differences([&](const Numbers& at) { return errors(at)[row]; }, x))
        expected.push_back(each);
    expect_near(numbers_in(output("ht", "jacobian", input)), expected, 1e-6);
  }
}

}  // namespace
}  // namespace retrace::gradbench
