// The program of benchmarks/gradbench answers as plain loops and differences do.
#include <retrace/tests/gradbench/gradbench_test.h>

namespace retrace::gradbench {
namespace {

TEST_F(GradBench, AnswersEachMessage) {
  EXPECT_EQ(respond(retrace_tool, R"({"id":0,"kind":"start","eval":"hello"})"), R"({"id":0,"tool":"retrace"})");
  EXPECT_EQ(respond(retrace_tool, R"({"id":1,"kind":"define","module":"ba"})"), R"({"id":1,"success":true})");
  EXPECT_EQ(respond(retrace_tool, R"({"id":2,"kind":"analysis","of":1,"valid":true})"), R"({"id":2})");
  EXPECT_EQ(respond(retrace_tool, R"({"id":3,"kind":"define","module":"x"})"),
            R"({"id":3,"success":false,"error":"gradbench: there is no eval x"})");
  const Json timings = evaluate("hello", "square", 3.0)["timings"];
  ASSERT_EQ(timings.size(), 2U);
  EXPECT_EQ(timings[0]["name"].get<std::string>(), "prepare");
  EXPECT_EQ(timings[1]["name"].get<std::string>(), "evaluate");
  const Json often = evaluate("lse", "primal", Json::Object{{"x", some(3)}, {"min_runs", 5}, {"min_seconds", 0.0}});
  EXPECT_EQ(often["timings"].size(), 6U);
  const auto complaint = [&](const Json& input) {
    return evaluate("lse", "primal", input)["error"].get<std::string>();
  };
  EXPECT_EQ(complaint(Json::Object{{"y", 1}}), "gradbench: the input has no member x");
  EXPECT_EQ(complaint(Json::Object{{"x", Json::List{1, Json::List{2}}}}),
            "gradbench: the member x of the input must be a number or lists of numbers, all of the same lengths");
}

TEST_F(GradBench, Hello) {
  EXPECT_EQ(output("hello", "square", 3.0).get<double>(), 9);
  EXPECT_EQ(output("hello", "double", 3).get<double>(), 6);
}

TEST_F(GradBench, LogSumExp) {
  const Json input = Json::Object{{"x", Numbers{1000, 1001, 999}}};
  const double total = 1 + std::exp(1) + std::exp(-1);
  expect_near(numbers_in(output("lse", "primal", input)), {1000 + std::log(total)}, 1e-15);
  expect_near(numbers_in(output("lse", "gradient", input)), {1 / total, std::exp(1) / total, std::exp(-1) / total});
}

TEST_F(GradBench, LeastSquares) {
  const Numbers x = some(5);
  for (const int n : {2, 3, 8}) {
    const Json input = Json::Object{{"x", x}, {"n", n}};
    expect_near(numbers_in(output("llsq", "primal", input)), {plain::least_squares(x, n)});
    const auto f = [&](const Numbers& at) { return plain::least_squares(at, n); };
    expect_near(numbers_in(output("llsq", "gradient", input)), plain::differences(f, x));
  }
}

// Runge and Kutta's method is exact for the powers of t up to 4: y_i = x_0 ... x_i t^(i + 1) / (i + 1)!.
TEST_F(GradBench, Ode) {
  const Numbers x = some(4, 0.5, 1);
  Numbers y(4), gradient(4);
  for (std::size_t i = 0; i < 4; ++i) y[i] = (i == 0 ? 1 : y[i - 1]) * x[i] * 2 / static_cast<double>(i + 1);
  for (std::size_t i = 0; i < 4; ++i) gradient[i] = y[3] / x[i];
  for (const int steps : {1, 7}) {
    const Json input = Json::Object{{"x", x}, {"s", steps}};
    expect_near(numbers_in(output("ode", "primal", input)), y, 1e-14);
    expect_near(numbers_in(output("ode", "gradient", input)), gradient, 1e-14);
  }
}

TEST_F(GradBench, Determinant) {
  for (const std::size_t size : {1U, 2U, 5U}) {
    const Numbers a = some(size * size);
    const auto f = [&](const Numbers& at) { return plain::determinant(plain::rows_of(at, size)); };
    const Json input = Json::Object{{"A", a}, {"ell", size}};
    expect_near(numbers_in(output("det", "primal", input)), {f(a)}, 1e-14);
    expect_near(numbers_in(output("det", "gradient", input)), plain::differences(f, a));
  }
}

TEST_F(GradBench, Gmm) {
  const std::size_t n = 4;
  for (const auto& [d, k] : {std::pair<std::size_t, std::size_t>{3, 2}, {1, 3}}) {
    const std::size_t below = d * (d - 1) / 2;
    const Numbers parameters = some(k * (1 + 2 * d + below));
    const Matrix x = some_rows(n, d);
    const auto rows = [&](std::size_t first, std::size_t columns) {
      return columns == 0 ? Matrix(k) : plain::rows_of(std::span(parameters).subspan(first, k * columns), columns);
    };
    const Json input = Json::Object{{"d", d},
                                    {"k", k},
                                    {"n", n},
                                    {"m", 2},
                                    {"gamma", 1.5},
                                    {"x", x},
                                    {"alpha", plain::joined(rows(0, 1))},
                                    {"mu", rows(k, d)},
                                    {"q", rows(k + k * d, d)},
                                    {"l", rows(k + 2 * k * d, below)}};
    const auto f = [&](const Numbers& at) { return plain::log_posterior(at, x, k, 1.5, 2); };
    expect_near(numbers_in(output("gmm", "objective", input)), {f(parameters)}, 1e-12);
    expect_near(numbers_in(output("gmm", "jacobian", input), {"alpha", "mu", "q", "l"}),
                plain::differences(f, parameters));
  }
}

TEST_F(GradBench, Lstm) {
  const std::size_t layers = 2, b = 3;
  const Numbers parameters = some((8 * layers + 3) * b);
  const Matrix state = some_rows(2 * layers, b), letters = some_rows(5, b);
  const auto all = std::span(parameters);
  const Json input = Json::Object{{"main_params", plain::rows_of(all.first(8 * layers * b), 4 * b)},
                                  {"extra_params", plain::rows_of(all.last(3 * b), b)},
                                  {"state", state},
                                  {"sequence", letters}};
  const auto f = [&](const Numbers& at) { return plain::lstm_loss(at, state, letters); };
  expect_near(numbers_in(output("lstm", "objective", input)), {f(parameters)}, 1e-14);
  expect_near(numbers_in(output("lstm", "jacobian", input)), plain::differences(f, parameters));
}

// A step of Newton's method leads to the mean of the points of a centroid.
TEST_F(GradBench, KMeans) {
  const Json input =
      Json::Object{{"points", Matrix{{0, 0}, {1, 0}, {5, 5}, {6, 8}, {0, 2}}}, {"centroids", Matrix{{5, 5}, {0, 1}}}};
  EXPECT_EQ(output("kmeans", "cost", input).get<double>(), 1 + 2 + 0 + 10 + 1);
  expect_near(numbers_in(output("kmeans", "dir", input)), {5 - 5.5, 5 - 6.5, 0 - 1.0 / 3, 1 - 2.0 / 3}, 1e-14);
}

TEST_F(GradBench, SaddleInAllModes) {
  for (const char* modes : {"ff", "fr", "rf", "rr"})
    for (const double each : numbers_in(output("saddle", modes, Json::Object{{"start", Numbers{1, 1}}})))
      EXPECT_NEAR(each, 0, 1e-5) << modes;
}

TEST_F(GradBench, ParticleInAllModes) {
  for (const char* modes : {"ff", "fr", "rf", "rr"}) {
    const double w = output("particle", modes, Json::Object{{"w", 0.2}}).get<double>();
    EXPECT_LT(plain::miss(w), 1e-6) << modes;
    EXPECT_GT(plain::miss(0.2), 1e-4);
  }
}

}  // namespace
}  // namespace retrace::gradbench
