// Tests of the checker itself: ops with a correct forward and a wrong backward must fail, and the correct version of
// each must pass.
#include <gtest/gtest.h>

#include <retrace/tests/core/checks/planted_op.h>

namespace retrace {
namespace {

struct Planted {
  const char* bug;
  Tensors inputs;
  std::function<Tensors(const Tensors& in, bool bug)> function;

  Planted(const char* what, Tensors at, Forward f, BackwardFunction backward)
      : Planted(what, std::move(at),
                [=](const Tensors& in, bool bug_is_in) { return Tensors{recorded(f, backward, in, bug_is_in)}; }) {}
  Planted(const char* what, Tensors at, std::function<Tensors(const Tensors& in, bool bug)> f)
      : bug(what), inputs(std::move(at)), function(std::move(f)) {}
  GradcheckResult check(bool bug_is_in) const {
    return gradcheck([&](const Tensors& in) { return function(in, bug_is_in); }, inputs);
  }
};

// ---- bugs in the writing of gradients and in recording, which no formula can have

void overwriting_product(Record& r) {
  const double* dy = r.grad_out<double>();
  for (int i = 0; i < 2; ++i) {
    const double* other = r.saved(1 - i).values<double>();
    GradientSlot<double> slot = r.grad_in<double>(i);
    slot.add = slot.add && !r.attributes<bool>();
    slot.put(r.in(i).numel(), [=](std::int64_t k) { return dy[k] * other[k]; });
  }
}

void overwriting_take(Record& r) {
  const double* dy = r.grad_out<double>();
  const std::int64_t* ids = r.saved(1).values<std::int64_t>();
  double* dx = r.grad_in<double>(0, Begin::zeroed).values;
  for (std::int64_t k = 0; k < r.in(1).numel(); ++k) dx[ids[k]] = dy[k] + (r.attributes<bool>() ? 0 : dx[ids[k]]);
}

void short_exp(Record& r) {
  const double *dy = r.grad_out<double>(), *y = r.saved(1).values<double>();
  double* dx = r.grad_in<double>(0, Begin::zeroed).values;
  for (std::int64_t k = r.attributes<bool>() ? 1 : 0; k < r.in(0).numel(); ++k) dx[k] += dy[k] * y[k];
}

Tensor times(const Tensor& a, const Tensor& b) { return a * b; }
Tensor product(const Tensor& a, const Tensor& b) { return matmul(a, b); }
Tensors used_twice(const Tensors& in, bool bug) { return {recorded(times, overwriting_product, {in[0], in[0]}, bug)}; }
Tensors detached(const Tensors& in, bool bug) {
  return {recorded(times, overwriting_product, {in[0], bug ? in[1].detach() : in[1]}, false)};
}

// Three steps of tanh; with the bug, each saves its initial state instead of its final one.
Tensors three_steps(const Tensors& in, bool bug) {
  const BackwardFunction backward = [](Record& r) { r.add(0, r.output(0).grad() * (1 - square(r.saved(0).tensor()))); };
  Tensor state = in[0];
  for (int step = 0; step < 3; ++step) {
    const Tensor next = unrecorded([](auto& a, auto&) { return tanh(a); }, {state});
    record(planted_info, backward, {&state}, {&next}, {bug ? &state : &next});
    state = next;
  }
  return {state};
}

Tensor sum_last(const Tensor& x) { return sum(x, -1, {.keepdims = true}); }
Tensor mean_last(const Tensor& x) { return mean(x, -1, {.keepdims = true}); }
// The term that layer norm subtracts from dy.
Tensor means(const Tensor& dy, const Tensor& y) { return mean_last(dy) + y * mean_last(dy * y); }
Tensor deviation(const Tensor& x) { return sqrt(var(x, -1, {.keepdims = true}) + 1e-5); }
Tensor times_transposed(const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_b = true}); }
Tensor transposed_times(const Tensor& a, const Tensor& b) { return matmul(a, b, {.transpose_a = true}); }

// A row of the table: the bug, a point, the forward, and the gradients, right or wrong.
std::vector<Planted> planted_bugs() {
  Random random(11);
  const auto normal = [&](const Shape& shape = {6}) { return random.normal(shape, f64); };
  const auto positive = [&] { return random.uniform({6}, 0.5, 2, f64); };
  const auto square_matrix = [&] { return random.normal({3, 3}, f64); };
  const Tensor around_0 = tensor({-1.5, -0.5, 0, 0.5, 1.5}, f64), no_ties = tensor({{1, 3, 2}, {-2, -3, -4}}, f64);
  // clang-format off
  return {
      {"square: a factor of 2 is lost", {normal()}, [](auto& a, auto&) { return square(a); },
       by([](auto& s) { return (s.bug ? 1 : 2) * s.dy * s.a; })},
      {"cos: wrong sign", {normal()}, [](auto& a, auto&) { return cos(a); },
       by([](auto& s) { return (s.bug ? 1 : -1) * s.dy * sin(s.a); })},
      {"silu: one term of the product rule", {normal()}, [](auto& a, auto&) { return a * sigmoid(a); },
       by([](auto& s) { return s.dy * sigmoid(s.a) * (1 + (s.bug ? 0 : 1) * s.a * sigmoid(-s.a)); })},
      {"sin 3x: no chain rule", {normal()}, [](auto& a, auto&) { return sin(3 * a); },
       by([](auto& s) { return (s.bug ? 1 : 3) * s.dy * cos(3 * s.a); })},
      {"sin: reads y for x", {normal()}, [](auto& a, auto&) { return sin(a); },
       by([](auto& s) { return s.dy * cos(s.bug ? s.y : s.a); })},
      {"sqrt: dy / y for dy / 2y", {positive()}, [](auto& a, auto&) { return sqrt(a); },
       by([](auto& s) { return s.dy / ((s.bug ? 1 : 2) * s.y); })},
      {"tanh: 1 - y for 1 - y^2", {normal()}, [](auto& a, auto&) { return tanh(a); },
       by([](auto& s) { return s.dy * (1 - (s.bug ? s.y : square(s.y))); })},
      {"sigmoid: y for y (1 - y)", {normal()}, [](auto& a, auto&) { return sigmoid(a); },
       by([](auto& s) { return s.dy * (s.bug ? s.y : s.y * (1 - s.y)); })},
      {"sub: db has the sign of da", {normal(), normal()}, [](auto& a, auto& b) { return a - b; },
       by([](auto& s) { return Tensors{s.dy, s.bug ? s.dy : -s.dy}; })},
      {"div: sign of db", {normal(), positive()}, [](auto& a, auto& b) { return a / b; },
       by([](auto& s) { return Tensors{s.dy / s.b, (s.bug ? 1 : -1) * s.dy * s.y / s.b}; })},
      {"mul: a and b exchanged", {normal(), normal()}, times,
       by([](auto& s) { return Tensors{s.dy * (s.bug ? s.a : s.b), s.dy * (s.bug ? s.b : s.a)}; })},
      {"mul: b gets no gradient", {normal(), normal()}, times,
       by([](auto& s) { return Tensors{s.dy * s.b, s.bug ? Tensor() : s.dy * s.a}; })},
      {"mul: b is detached inside the forward", {normal(), normal()}, detached},
      {"mul(x, x): overwrites instead of adding", {normal()}, used_twice},
      {"tanh: saves a stale value", {normal()}, three_steps},
      {"cube: wrong for negative inputs only", {around_0}, [](auto& a, auto&) { return a * a * a; },
       by([](auto& s) { return 3 * s.dy * s.a * (s.bug ? abs(s.a) : s.a); })},
      {"square: NaN at 0", {around_0}, [](auto& a, auto&) { return square(a); },
       by([](auto& s) { return 2 * s.dy * (s.bug ? s.y / s.a : s.a); })},
      {"exp: takes the cotangent for 1", {normal()}, [](auto& a, auto&) { return exp(a); },
       by([](auto& s) { return s.bug ? s.y : s.dy * s.y; })},
      {"exp: f32 inside backward", {normal()}, [](auto& a, auto&) { return exp(a); },
       by([](auto& s) { return s.dy * (s.bug ? s.y.to(f32).to(f64) : s.y); })},
      {"exp: one element is wrong by 1e-6", {normal({4})}, [](auto& a, auto&) { return exp(a); },
       by([](auto& s) { return s.dy * s.y * tensor({1.0, 1.0, s.bug ? 1 + 1e-6 : 1.0, 1.0}, f64); })},
      {"exp: the first element is forgotten", {normal()}, [](auto& a, auto&) { return exp(a); }, short_exp},
      {"bias: sums over the wrong axis", {square_matrix(), normal({3})}, [](auto& a, auto& b) { return a + b; },
       by([](auto& s) { return Tensors{s.dy, sum(s.dy, s.bug ? 1 : 0)}; })},
      {"bias: no sum over the broadcast axis", {square_matrix(), normal({3})}, [](auto& a, auto& b) { return a + b; },
       by([](auto& s) { return Tensors{s.dy, s.bug ? s.dy[0] : sum(s.dy, 0)}; })},
      {"matmul: b is not transposed", {square_matrix(), square_matrix()}, product,
       by([](auto& s) { return Tensors{matmul(s.dy, s.b, {.transpose_b = !s.bug}), transposed_times(s.a, s.dy)}; })},
      {"matmul: db comes out transposed", {square_matrix(), square_matrix()}, product,
       by([](auto& s) { return Tensors{times_transposed(s.dy, s.b),
                                       s.bug ? transposed_times(s.dy, s.a) : transposed_times(s.a, s.dy)}; })},
      {"scores: no 1 / sqrt(d)", {normal({2, 4}), normal({3, 4})},
       [](auto& a, auto& b) { return times_transposed(a, b) / 2; },
       by([](auto& s) { return Tensors{matmul(s.dy, s.b) / (s.bug ? 1 : 2), transposed_times(s.dy, s.a) / 2}; })},
      {"transpose: hands dy on", {square_matrix()}, [](auto& a, auto&) { return transpose(a); },
       by([](auto& s) { return s.bug ? s.dy : transpose(s.dy); })},
      {"slice: off by one", {normal({5})}, [](auto& a, auto&) { return slice(a, {range(1, 4)}); },
       by([](auto& s) { return s.bug ? pad(s.dy, {{0, 2}}) : pad(s.dy, {{1, 1}}); })},
      {"concat: parts are flipped", {normal({3}), normal({3})}, [](auto& a, auto& b) { return concat({a, b}); },
       by([](auto& s) { return Tensors{slice(s.dy, {range(s.bug ? 3 : 0, s.bug ? 6 : 3)}),
                                       slice(s.dy, {range(s.bug ? 0 : 3, s.bug ? 3 : 6)})}; })},
      {"take: repeated indices overwrite", {normal({4}), indices({2, 0, 2, 3})},
       [](auto& a, auto& b) { return take(a, b); }, overwriting_take},
      {"cumsum: from the wrong end", {normal()}, [](auto& a, auto&) { return cumsum(a); },
       by([](auto& s) { return s.bug ? cumsum(s.dy) : flip(cumsum(flip(s.dy, 0)), 0); })},
      {"max: every element gets the gradient", {no_ties}, [](auto& a, auto&) { return max(a, 1, {.keepdims = true}); },
       by([](auto& s) { return s.dy * (s.bug ? ones_like(s.a) : one_hot(argmax(s.a), 3, f64)); })},
      {"mean: not divided by the batch", {normal({4, 3})}, [](auto& a, auto&) { return mean(a, 0); },
       by([](auto& s) { return s.dy / (s.bug ? 1 : 4) + zeros_like(s.a); })},
      {"var: divides by n - 1", {normal({2, 5})}, [](auto& a, auto&) { return var(a, -1, {.keepdims = true}); },
       by([](auto& s) { return 2 * s.dy * (s.a - mean_last(s.a)) / (s.bug ? 4 : 5); })},
      {"norm: not divided by y", {normal()}, [](auto& a, auto&) { return norm(a); },
       by([](auto& s) { return s.bug ? s.dy * s.a : s.dy * s.a / s.y; })},
      {"softmax: without the sum", {square_matrix()}, [](auto& a, auto&) { return softmax(a); },
       by([](auto& s) { return s.y * (s.dy - (s.bug ? 0 : 1) * sum_last(s.dy * s.y)); })},
      {"softmax: the zero that is right for sum(y)", {square_matrix()}, [](auto& a, auto&) { return softmax(a); },
       by([](auto& s) { return (s.bug ? 0 : 1) * s.y * (s.dy - sum_last(s.dy * s.y)); })},
      {"log-softmax: y for e^y", {square_matrix()}, [](auto& a, auto&) { return log_softmax(a); },
       by([](auto& s) { return s.dy - (s.bug ? s.y : exp(s.y)) * sum_last(s.dy); })},
      {"layer norm: without the means", {normal({3, 4})}, [](auto& a, auto&) { return layer_norm(a); },
       by([](auto& s) { return (s.dy - (s.bug ? 0 : 1) * means(s.dy, s.y)) / deviation(s.a); })},
      {"layer norm: deviation held constant", {normal({3, 4})}, [](auto& a, auto&) { return layer_norm(a); },
       by([](auto& s) { return (s.dy - (s.bug ? mean_last(s.dy) : means(s.dy, s.y))) / deviation(s.a); })},
      {"cross entropy: sum for mean", {normal({2, 3}), indices({2, 0})},
       [](auto& a, auto& b) { return cross_entropy(a, b); },
       by([](auto& s) { return Tensors{s.dy * (softmax(s.a) - one_hot(s.b, 3, f64)) / (s.bug ? 1 : 2)}; })},
  };
  // clang-format on
}

TEST(Gradcheck, PassesTheRightVersionOfEveryPlantedBug) {
  for (const Planted& planted : planted_bugs()) {
    const GradcheckResult result = planted.check(false);
    EXPECT_TRUE(result.passed()) << planted.bug << '\n' << result;
    EXPECT_GT(result.elements, 0) << planted.bug;
  }
}

TEST(Gradcheck, FindsEveryPlantedBugByDifferencesAndByDualNumbers) {
  const std::vector<Planted> bugs = planted_bugs();
  EXPECT_GE(bugs.size(), 22u);
  for (const Planted& planted : bugs) {
    const GradcheckResult result = planted.check(true);
    EXPECT_FALSE(result.passed()) << planted.bug;
    EXPECT_FALSE(result.worst_error <= result.limit) << planted.bug << ": differences miss it\n" << result;
    EXPECT_FALSE(result.exact_error <= result.exact_limit) << planted.bug << ": dual numbers miss it\n" << result;
  }
}

}  // namespace
}  // namespace retrace
