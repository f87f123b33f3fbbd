// Invalid arguments of softmax, norms, losses, dropout, attention and custom ops: the type and text of each error.
#include <retrace/tests/ops/error_table.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

std::string mask_does_not_fit(const std::string& mask) {
  return "attention: " + mask +
         " does not broadcast to [batch..., heads, queries, keys], here [1, 2, 2], aligned from the right; a mask for "
         "each sample is [batch..., 1, queries, keys]";
}

Tensor give_nothing(const Tensors&) { return {}; }
Tensors pass_on(const Tensor& dy, const Tensors&, const Tensor&) { return {dy}; }

TEST(LossErrors, Softmax) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { softmax(with.matrix, 2); },
       "softmax: x[2, 3] has no axis 2; axes run from -2 to 1"},
      {Mistake::shape, [](auto& with) { softmax(with.number); },
       "softmax: x[] is 0-d and has no axis -1; reshape it first"},
      {Mistake::shape, [](auto& with) { softmax(with.vector, -1, with.matrix); },
       "softmax: mask[2, 3] has more elements than x[3]; the mask must broadcast to x"},
      {Mistake::shape, [](auto& with) { softmax(with.vector, -1, with.four); },
       "softmax: x[3] and mask[4] do not broadcast: axis -1 is 3 and 4, but must be equal or 1; reshape or transpose "
       "one of them"},
      {Mistake::dtype, [](auto& with) { softmax(with.whole); }, needs_real("softmax", "x[2, 3]")},
      {Mistake::dtype, [](auto& with) { softmax(with.matrix, -1, with.single); },
       dtypes_differ("softmax", "x[2, 3] is f64", "mask[2, 3] is f32")},
      {Mistake::dtype, [](auto& with) { softmax(with.matrix, -1, with.whole); },
       dtypes_differ("softmax", "x[2, 3] is f64", "mask[2, 3] is i64")},
      {Mistake::shape, [](auto& with) { log_softmax(with.matrix, -3); },
       "log_softmax: x[2, 3] has no axis -3; axes run from -2 to 1"},
      {Mistake::shape, [](auto& with) { log_softmax(with.number); },
       "log_softmax: x[] is 0-d and has no axis -1; reshape it first"},
      {Mistake::shape, [](auto& with) { log_softmax(with.vector, -1, with.matrix); },
       "log_softmax: mask[2, 3] has more elements than x[3]; the mask must broadcast to x"},
      {Mistake::shape, [](auto& with) { log_softmax(with.vector, -1, with.four); },
       "log_softmax: x[3] and mask[4] do not broadcast: axis -1 is 3 and 4, but must be equal or 1; reshape or "
       "transpose one of them"},
      {Mistake::dtype, [](auto& with) { log_softmax(with.whole); }, needs_real("log_softmax", "x[2, 3]")},
      {Mistake::dtype, [](auto& with) { log_softmax(with.matrix, -1, with.single); },
       dtypes_differ("log_softmax", "x[2, 3] is f64", "mask[2, 3] is f32")},
  });
}

TEST(LossErrors, Normalisation) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { layer_norm(with.number); },
       "layer_norm: x[] does not have 1 last axes to normalise; options.axes is 1 to the rank"},
      {Mistake::shape, [](auto& with) { layer_norm(with.matrix, {}, {}, {.axes = 3}); },
       "layer_norm: x[2, 3] does not have 3 last axes to normalise; options.axes is 1 to the rank"},
      {Mistake::shape, [](auto& with) { layer_norm(with.matrix, {}, {}, {.axes = 0}); },
       "layer_norm: x[2, 3] does not have 0 last axes to normalise; options.axes is 1 to the rank"},
      {Mistake::shape, [](auto& with) { layer_norm(with.matrix, with.four); },
       "layer_norm: gamma[4] does not have the shape [3] of the normalised axes of x[2, 3]; reshape it"},
      {Mistake::shape, [](auto& with) { layer_norm(with.matrix, with.vector, with.weight); },
       "layer_norm: w[4, 2] does not have the shape [3] of the normalised axes of x[2, 3]; reshape it"},
      {Mistake::shape, [](auto& with) { layer_norm(with.matrix, with.dual_four); },
       "layer_norm: gamma[4] does not have the shape [3] of the normalised axes of x[2, 3]; reshape it"},
      {Mistake::value, [](auto& with) { layer_norm(with.matrix, {}, {}, {.eps = -1}); },
       "layer_norm: x[2, 3] with eps -1; eps must be 0 or more"},
      {Mistake::value, [](auto& with) { layer_norm(with.matrix, {}, {}, {.eps = nan}); },
       "layer_norm: x[2, 3] with eps nan; eps must be 0 or more"},
      {Mistake::dtype, [](auto& with) { layer_norm(with.single, with.vector); },
       dtypes_differ("layer_norm", "x[2, 3] is f32", "gamma[3] is f64")},
      {Mistake::dtype, [](auto& with) { layer_norm(with.single, {}, with.vector); },
       dtypes_differ("layer_norm", "x[2, 3] is f32", "beta[3] is f64")},
      {Mistake::shape, [](auto& with) { residual_layer_norm(with.matrix, with.vector); },
       "residual_layer_norm: x[2, 3] and residual[3] must have one shape; reshape or broadcast one"},
      {Mistake::dtype, [](auto& with) { residual_layer_norm(with.matrix, with.single); },
       dtypes_differ("residual_layer_norm", "x[2, 3] is f64", "residual[2, 3] is f32")},
      {Mistake::dtype, [](auto& with) { layer_norm(with.whole); }, needs_real("layer_norm", "x[2, 3]")},
      {Mistake::shape, [](auto& with) { rms_norm(with.number); },
       "rms_norm: x[] has no last axis to normalise; reshape it"},
      {Mistake::shape, [](auto& with) { rms_norm(with.matrix, with.four); },
       "rms_norm: gamma[4] must be [3], one number per element of the last axis of x[2, 3]; reshape it"},
      {Mistake::value, [](auto& with) { rms_norm(with.matrix, {}, -1); },
       "rms_norm: x[2, 3] with eps -1; eps must be 0 or more"},
      {Mistake::dtype, [](auto& with) { rms_norm(with.single, with.vector); },
       dtypes_differ("rms_norm", "x[2, 3] is f32", "gamma[3] is f64")},
      {Mistake::dtype, [](auto& with) { rms_norm(with.whole); }, needs_real("rms_norm", "x[2, 3]")},
  });
}

TEST(LossErrors, Labels) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { cross_entropy(with.number, indices(0)); },
       "cross_entropy: logits[] and targets[]: labels must have the shape of the scores without the last axis; reshape "
       "them"},
      {Mistake::shape, [](auto& with) { cross_entropy(with.matrix, with.flags); },
       "cross_entropy: logits[2, 3] and targets[4]: labels must have the shape of the scores without the last axis; "
       "reshape them"},
      {Mistake::shape, [](auto& with) { cross_entropy(with.matrix, with.whole); },
       "cross_entropy: logits[2, 3] and targets[2, 3]: labels must have the shape of the scores without the last axis; "
       "reshape them"},
      {Mistake::shape, [](auto& with) { cross_entropy(with.matrix, with.vector); },
       "cross_entropy: logits[2, 3] and targets[3]: soft targets have the shape of the logits; reshape one of them, or "
       "give labels as i64"},
      {Mistake::dtype, [](auto& with) { cross_entropy(with.matrix, with.single); },
       dtypes_differ("cross_entropy", "logits[2, 3] is f64", "targets[2, 3] is f32")},
      {Mistake::dtype, [](auto& with) { cross_entropy(with.whole, with.ids); },
       needs_real("cross_entropy", "logits[2, 3]")},
      {Mistake::index, [](auto& with) { cross_entropy(with.matrix, with.far); },
       "cross_entropy: label 7 at position 1 of targets[2] is outside 0 to 2; check the labels, or name it with "
       "ignore_index"},
      {Mistake::index, [](auto& with) { cross_entropy(with.matrix, with.negative, {.ignore_index = -100}); },
       "cross_entropy: label -1 at position 1 of targets[2] is outside 0 to 2; check the labels, or name it with "
       "ignore_index"},
      {Mistake::value, [](auto& with) { cross_entropy(with.matrix, with.ids, {.label_smoothing = 1.5}); },
       "cross_entropy: label_smoothing is 1.5; it must lie from 0 to 1"},
      {Mistake::value, [](auto& with) { cross_entropy(with.matrix, with.matrix, {.label_smoothing = nan}); },
       "cross_entropy: label_smoothing is nan; it must lie from 0 to 1"},
      {Mistake::shape, [](auto& with) { cross_entropy(with.matrix, with.ids, {.class_weights = with.four}); },
       "cross_entropy: class_weights[4] must be [3], one weight per class of logits[2, 3]"},
      {Mistake::dtype, [](auto& with) { cross_entropy(with.matrix, with.ids, {.class_weights = with.narrow}); },
       dtypes_differ("cross_entropy", "logits[2, 3] is f64", "class_weights[3] is f32")},
      {Mistake::dtype, [](auto& with) { cross_entropy(with.matrix, with.matrix, {.class_weights = with.narrow}); },
       dtypes_differ("cross_entropy", "logits[2, 3] is f64", "class_weights[3] is f32")},
      {Mistake::dtype,
       [](auto& with) {
         nll(with.matrix, with.ids, {.class_weights = indices({1, 2, 3})});
       },
       needs_real("nll", "class_weights[3]")},
      {Mistake::value, [](auto& with) { nll(with.matrix, with.ids, {.label_smoothing = -0.1}); },
       "nll: label_smoothing is -0.1; it must lie from 0 to 1"},
      {Mistake::shape, [](auto& with) { nll(with.number, indices(0)); },
       "nll: logp[] and targets[]: labels must have the shape of the scores without the last axis; reshape them"},
      {Mistake::shape, [](auto& with) { nll(with.matrix, with.flags); },
       "nll: logp[2, 3] and targets[4]: labels must have the shape of the scores without the last axis; reshape them"},
      {Mistake::dtype, [](auto& with) { nll(with.square, with.vector); },
       "nll: targets[3] is f64, but labels are i64; make them with indices() or to(i64)"},
      {Mistake::dtype, [](auto& with) { nll(with.whole, with.ids); }, needs_real("nll", "logp[2, 3]")},
      {Mistake::index, [](auto& with) { nll(with.matrix, with.far); },
       "nll: label 7 at position 1 of targets[2] is outside 0 to 2; check the labels, or name it with ignore_index"},
      {Mistake::index, [](auto& with) { nll(with.matrix, with.negative); },
       "nll: label -1 at position 1 of targets[2] is outside 0 to 2; check the labels, or name it with ignore_index"},
  });
}

TEST(LossErrors, PairsAndDropout) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { mse(with.matrix, with.vector); },
       "mse: x[2, 3] and target[3]: shapes must be equal; reshape one of them"},
      {Mistake::dtype, [](auto& with) { mse(with.matrix, with.single); },
       dtypes_differ("mse", "x[2, 3] is f64", "target[2, 3] is f32")},
      {Mistake::dtype, [](auto& with) { mse(with.whole, with.whole); }, needs_real("mse", "x[2, 3]")},
      {Mistake::shape, [](auto& with) { bce_with_logits(with.matrix, with.weight); },
       "bce_with_logits: x[2, 3] and w[4, 2]: shapes must be equal; reshape one of them"},
      {Mistake::dtype, [](auto& with) { bce_with_logits(with.matrix, with.single); },
       dtypes_differ("bce_with_logits", "x[2, 3] is f64", "target[2, 3] is f32")},
      {Mistake::dtype, [](auto& with) { bce_with_logits(with.whole, with.whole); },
       needs_real("bce_with_logits", "x[2, 3]")},
      {Mistake::shape, [](auto& with) { smooth_l1(with.matrix, with.vector); },
       "smooth_l1: x[2, 3] and target[3]: shapes must be equal; reshape one of them"},
      {Mistake::value, [](auto& with) { smooth_l1(with.matrix, with.matrix, -1); },
       "smooth_l1: beta is -1; it must be 0 or more and finite"},
      {Mistake::value, [](auto& with) { smooth_l1(with.matrix, with.matrix, nan); },
       "smooth_l1: beta is nan; it must be 0 or more and finite"},
      {Mistake::value, [](auto& with) { smooth_l1(with.matrix, with.matrix, infinity); },
       "smooth_l1: beta is inf; it must be 0 or more and finite"},
      {Mistake::dtype, [](auto& with) { smooth_l1(with.whole, with.whole); }, needs_real("smooth_l1", "x[2, 3]")},
      {Mistake::value, [](auto& with) { huber(with.matrix, with.matrix, 0); },
       "huber: delta is 0; it must be positive and finite"},
      {Mistake::shape, [](auto& with) { kl_divergence(with.matrix, with.vector); },
       "kl_divergence: x[2, 3] and target[3]: shapes must be equal; reshape one of them"},
      {Mistake::dtype, [](auto& with) { kl_divergence(with.matrix, with.single); },
       dtypes_differ("kl_divergence", "x[2, 3] is f64", "target[2, 3] is f32")},
      {Mistake::value, [](auto& with) { dropout(with.matrix, 1.5, nullptr); },
       "dropout: x[2, 3] with probability 1.5; it must lie from 0 to 1"},
      {Mistake::value, [](auto& with) { dropout(with.matrix, nan, nullptr); },
       "dropout: x[2, 3] with probability nan; it must lie from 0 to 1"},
  });
}

TEST(LossErrors, AttentionOperands) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { attention(with.vector, with.vector, with.vector); },
       "attention: q[3], k[3] and v[3]: ranks must be equal, from 2 to 7, [..., length, features]; reshape them"},
      {Mistake::shape, [](auto& with) { attention(with.matrix, with.cube, with.cube); },
       "attention: q[2, 3], k[2, 2, 3] and v[2, 2, 3]: ranks must be equal, from 2 to 7, [..., length, features]; "
       "reshape them"},
      {Mistake::shape, [](auto& with) { attention(with.matrix, with.weight, with.weight); },
       "attention: q[2, 3], w[4, 2] and w[4, 2]: q and k have 3 and 2 features; they must be equal"},
      {Mistake::shape, [](auto& with) { attention(with.matrix, with.square, with.matrix); },
       "attention: q[2, 3], k[3, 3] and v[2, 3]: k and v have 3 and 2 rows; give one value per key"},
      {Mistake::shape, [](auto& with) { attention(with.matrix, with.matrix, with.matrix, {.heads = 2}); },
       "attention: q[2, 3], k[2, 3] and v[2, 3]: 2 heads do not divide the features; choose a divisor"},
      {Mistake::shape, [](auto& with) { attention(with.matrix, with.matrix, with.matrix, {.heads = 0}); },
       "attention: q[2, 3], k[2, 3] and v[2, 3]: 0 heads do not divide the features; choose a divisor"},
      {Mistake::shape, [](auto& with) { attention(with.matrix, with.matrix, with.matrix, {.mask = with.vector}); },
       mask_does_not_fit("mask[3]")},
      {Mistake::shape,
       [](auto& with) {
         attention(with.matrix, with.matrix, with.matrix, {.mask = ones({2, 2, 2}, f64)});
       },
       mask_does_not_fit("mask[2, 2, 2]")},
      {Mistake::shape, [](auto& with) { attention(with.matrix, with.matrix, with.dual_matrix, {.mask = with.vector}); },
       mask_does_not_fit("mask[3]")},
      {Mistake::dtype, [](auto& with) { attention(with.matrix, with.matrix, with.single); },
       dtypes_differ("attention", "q[2, 3] is f64", "v[2, 3] is f32")},
      {Mistake::dtype, [](auto& with) { attention(with.matrix, with.dual_matrix, with.single); },
       dtypes_differ("attention", "q[2, 3] is f64", "v[2, 3] is f32")},
      {Mistake::dtype, [](auto& with) { attention(with.whole, with.whole, with.whole); },
       needs_real("attention", "q[2, 3]")},
      {Mistake::shape, [](auto& with) { attention_with_weights(with.matrix, with.square, with.matrix); },
       "attention: q[2, 3], k[3, 3] and v[2, 3]: k and v have 3 and 2 rows; give one value per key"},
      {Mistake::dtype, [](auto& with) { attention_with_weights(with.single, with.matrix, with.matrix); },
       dtypes_differ("attention", "q[2, 3] is f32", "k[2, 3] is f64")},
  });
}

TEST(LossErrors, CustomOps) {
  expect_refusals({
      {Mistake::value, [](auto& with) { custom_op("twice", {with.matrix}, {}, {}); },
       "twice: a custom op needs a forward and a backward function; one of them is empty"},
      {Mistake::value, [](auto& with) { custom_op("twice", {with.matrix}, give_nothing, pass_on); },
       "twice: forward gave an undefined tensor; return the result"},
  });
}

TEST(LossErrors, ACustomBackwardGivesOneGradientAnInput) {
  const Tensor x = parameter(ones({2})), y = parameter(ones({2}));
  Tape tape;
  const Tensor total = custom_op(
      "total", {x, y}, [](const Tensors& in) { return in[0] + in[1]; }, pass_on);
  expect_error<ValueError>(
      [&] { tape.backward({total}, {ones({2})}); },
      "total: backward gave 1 gradients for 2 inputs; give one for each (an undefined tensor for none)");
  EXPECT_FALSE(x.has_grad());
  EXPECT_FALSE(y.has_grad());
}

}  // namespace
}  // namespace retrace
