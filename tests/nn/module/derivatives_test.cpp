// Derivatives with respect to the weights of a module: against plain functions of tensors, and one tape per sample.
#include <retrace/nn/module/derivatives.h>

#include <gtest/gtest.h>

#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

Tensor loss_of(const Mlp& model, const Tensor& x) { return mean(square(model(x))); }

TEST(ModuleDerivatives, AgreeWithEachOther) {
  Random random(1);
  const Mlp model({2, 3, 1}, random, {.activation = Activation::tanh});
  to(model, f64);
  const Tensor x = random.normal({4, 2}, f64);
  const auto f = [&](const Mlp& m) { return loss_of(m, x); };
  const Tensor h = hessian(model, f), j = jacobian(model, f);
  const std::int64_t n = count_parameters(model);
  ASSERT_EQ(h.shape(), (Shape{n, n}));
  expect_near(h, transpose(h), 1e-14);
  const Tensors gradients = vjp(model, f, full({}, 1, f64));
  Tensors flat, v;
  for (const Tensor& gradient : gradients) flat.push_back(reshape(gradient, {gradient.numel()}));
  expect_near(reshape(j, {n}), concat(flat), 1e-14);
  Tensors flat_v, flat_hv;
  for (const Tensor& weight : parameter_tensors(model)) {
    v.push_back(random.normal(weight.shape(), f64));
    flat_v.push_back(reshape(v.back(), {weight.numel()}));
  }
  for (const Tensor& part : hvp(model, f, v)) flat_hv.push_back(reshape(part, {part.numel()}));
  const Tensor along = concat(flat_v);
  expect_near(reshape(matmul(h, reshape(along, {n, 1})), {n}), concat(flat_hv), 1e-13);
  expect_near(jvp(model, f, v), sum(concat(flat) * along), 1e-14);
}

TEST(ModuleDerivatives, OfEachSampleAreThoseOfATapeOfItsOwn) {
  Random random(2);
  const Lstm model(3, 4, random);
  const Tensor x = random.normal({5, 6, 3});
  const auto loss = [&](const Lstm& m, std::int64_t b) { return sum(square(m(slice(x, {range(b, b + 1)})).y)); };
  const std::vector<NamedTensor> each = per_sample_gradients(model, 5, loss);
  ASSERT_EQ(each.size(), 3u);
  EXPECT_EQ(each[0].name, "weight_ih");
  EXPECT_EQ(each[0].tensor.shape(), (Shape{5, 16, 3}));
  EXPECT_FALSE(model.cell.weight_ih.has_grad());
  for (std::int64_t b = 0; b < 5; ++b) {
    Tape tape;
    tape.backward(loss(model, b));
    expect_near(each[0].tensor[b], model.cell.weight_ih.grad(), 0);
    expect_near(each[2].tensor[b], model.cell.bias.grad(), 0);
    zero_grad(model);
  }
}

TEST(ModuleDerivatives, OfSamplesNeedScalars) {
  Random random(3);
  const Linear model(2, 2, random);
  const Tensor x = random.normal({3, 2});
  EXPECT_THROW(per_sample_gradients(model, 3, [&](const Linear& m, std::int64_t b) { return m(x[b]); }), ShapeError);
  EXPECT_THROW(per_sample_gradients(model, -1, [&](const Linear& m, std::int64_t) { return sum(m(x)); }), ValueError);
}

}  // namespace
}  // namespace retrace
