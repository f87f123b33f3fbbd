// Invalid arguments of the losses that are composed of other ops: the type and text of each error.
#include <retrace/tests/ops/error_table.h>
#include <retrace/tests/ops/gradient_support.h>

namespace retrace {
namespace {

TEST(LossErrors, Likelihoods) {
  expect_refusals({
      {Mistake::shape, [](auto& with) { bce(with.matrix, with.vector); },
       "bce: x[2, 3] and target[3]: shapes must be equal; reshape one of them"},
      {Mistake::shape, [](auto& with) { bce_with_logits(with.matrix, with.matrix, {.pos_weight = with.four}); },
       "bce_with_logits: x[2, 3] and pos_weight[4] do not broadcast: axis -1 is 3 and 4, but must be equal or 1; "
       "reshape or transpose one of them"},
      {Mistake::shape, [](auto& with) { bce_with_logits(with.vector, with.vector, {.pos_weight = with.matrix}); },
       "bce_with_logits: pos_weight[2, 3] does not broadcast to x[3]; reshape it"},
      {Mistake::dtype, [](auto& with) { bce_with_logits(with.matrix, with.matrix, {.pos_weight = with.narrow}); },
       dtypes_differ("bce_with_logits", "x[2, 3] is f64", "pos_weight[3] is f32")},
      {Mistake::shape, [](auto& with) { gaussian_nll(with.matrix, with.vector, with.matrix); },
       "gaussian_nll: x[2, 3] and target[3]: shapes must be equal; reshape one of them"},
      {Mistake::shape, [](auto& with) { gaussian_nll(with.vector, with.vector, with.matrix); },
       "gaussian_nll: variance[2, 3] does not broadcast to x[3]; reshape it"},
      {Mistake::dtype, [](auto& with) { gaussian_nll(with.matrix, with.matrix, with.whole); },
       dtypes_differ("gaussian_nll", "x[2, 3] is f64", "variance[2, 3] is i64")},
      {Mistake::value, [](auto& with) { gaussian_nll(with.vector, with.vector, with.vector, {.eps = -1}); },
       "gaussian_nll: eps is -1; it must be 0 or more"},
      {Mistake::dtype, [](auto& with) { poisson_nll(with.matrix, with.single); },
       dtypes_differ("poisson_nll", "x[2, 3] is f64", "target[2, 3] is f32")},
      {Mistake::dtype, [](auto& with) { poisson_nll(with.whole, with.whole); }, needs_real("poisson_nll", "x[2, 3]")},
  });
}

TEST(LossErrors, Margins) {
  expect_refusals({
      {Mistake::value,
       [](auto& with) {
         hinge_embedding(with.vector, indices({1, -1, 0}));
       },
       "hinge_embedding: 0 at position 2 of target[3] is neither 1 nor -1; check the targets"},
      {Mistake::value, [](auto& with) { soft_margin(with.vector, with.vector); },
       "soft_margin: 0.5 at position 0 of target[3] is neither 1 nor -1; check the targets"},
      {Mistake::shape, [](auto& with) { soft_margin(with.vector, with.flags); },
       "soft_margin: target[4] must be [3], one target per loss; reshape it"},
      {Mistake::dtype, [](auto& with) { hinge_embedding(with.whole, with.whole); },
       needs_real("hinge_embedding", "x[2, 3]")},
      {Mistake::shape, [](auto& with) { margin_ranking(with.vector, with.four, with.flags); },
       "margin_ranking: a[3] and b[4]: shapes must be equal; reshape one of them"},
      {Mistake::index, [](auto& with) { multi_margin(with.matrix, with.far); },
       "multi_margin: label 7 at position 1 of targets[2] is outside 0 to 2; check the labels"},
      {Mistake::value, [](auto& with) { multi_margin(with.matrix, with.ids, {.power = 3}); },
       "multi_margin: the power is 3; it must be 1 or 2"},
      {Mistake::shape, [](auto& with) { multi_margin(with.matrix, with.ids, {.class_weights = with.four}); },
       "multi_margin: class_weights[4] must be [3], one weight per class of x[2, 3]"},
      {Mistake::shape, [](auto& with) { cosine_embedding(with.matrix, with.matrix, with.flags); },
       "cosine_embedding: target[4] must be [2], one target per loss; reshape it"},
      {Mistake::shape, [](auto& with) { cosine_embedding(with.number, with.number, with.ids); },
       "cosine_embedding: a[] and b[] must be [..., features]; reshape them"},
      {Mistake::dtype, [](auto& with) { triplet_margin(with.matrix, with.matrix, with.single); },
       dtypes_differ("triplet_margin", "anchor[2, 3] is f64", "negative[2, 3] is f32")},
      {Mistake::shape, [](auto& with) { triplet_margin(with.matrix, with.matrix, with.vector); },
       "triplet_margin: anchor[2, 3] and negative[3]: shapes must be equal; reshape one of them"},
  });
}

}  // namespace
}  // namespace retrace
