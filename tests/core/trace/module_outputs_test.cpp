// The results of modules that a tape has recorded, by path.
#include <retrace/core/trace/module_outputs.h>

#include <gtest/gtest.h>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

struct TwiceTheSame {
  Mlp mlp;
  Linear out;
  explicit TwiceTheSame(Random& random) : mlp({2, 3, 2}, random), out(2, 1, random) {}
  Tensor operator()(const Tensor& x) const {
    const Scope scope(this, "twice");
    return out(mlp(mlp(x)));
  }
  void visit(auto&& see) const { see("mlp", mlp), see("out", out); }
};

TEST(ModuleOutputs, AreOnePerCallInTheOrderOfTheirEnds) {
  Random random(1);
  const TwiceTheSame model(random);
  const Tensor x = random.normal({4, 2});
  Tape tape({.keep = true});
  const Tensor y = model(x);
  tape.backward(sum(y));
  const std::vector<ModuleOutput> found = module_outputs(tape, names_of(model));
  std::string paths;
  for (const ModuleOutput& one : found) paths += one.path + " ";
  EXPECT_EQ(paths, "mlp.layers.0 mlp.layers.1 mlp mlp.layers.0 mlp.layers.1 mlp out  ");
  const NoTape no_tape;
  expect_near(found[2].y, model.mlp(x), 0);
  expect_near(found[5].y, model.mlp(model.mlp(x)), 0);
  expect_near(found.back().y, y, 0);
  EXPECT_EQ(found[5].y.grad().shape(), (Shape{4, 2}));
}

TEST(ModuleOutputs, NeedATapeThatKeeps) {
  const Tape tape;
  EXPECT_THROW(module_outputs(tape, Names()), ValueError);
}

TEST(OnGradient, SeesAndChangesWhatGoesBack) {
  const Tensor x = parameter(tensor({1, 2}, f64));
  Tensor seen;
  Tape tape;
  const Tensor observed = on_gradient(x, [&](const Tensor& dy) { return seen = dy.clone(), Tensor(); });
  const Tensor reversed = on_gradient(observed, [](const Tensor& dy) { return -2 * dy; });
  expect_near(reversed, x, 0);
  tape.backward(sum(reversed * tensor({3, 5}, f64)));
  expect_near(seen, tensor({-6, -10}, f64), 0);
  expect_near(x.grad(), tensor({-6, -10}, f64), 0);
}

TEST(OnGradient, RefusesAGradientThatDoesNotFit) {
  const Tensor x = parameter(tensor({1, 2}, f64));
  Tape tape;
  const Tensor y = on_gradient(x, [](const Tensor& dy) { return sum(dy); });
  EXPECT_THROW(tape.backward(sum(y)), ShapeError);
  EXPECT_THROW(on_gradient(x, {}), ValueError);
}

}  // namespace
}  // namespace retrace
