// Bugs that occurred in similar systems, planted into small copies and compared with correct versions. The gradient
// check finds those that make a gradient wrong. Bugs that compute another function with the gradient of that function
// only show in the comparison with the plain formula; each such test also verifies that the gradient check alone would
// pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <retrace/core/tensor/op_access.h>
#include <retrace/models/networks/relational_rnn.h>
#include <retrace/models/networks/sequence_model.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

class PlantedBugs : public testing::Test {
 protected:
  DtypeScope doubles{f64};
  Random random{9};
};

// ---- a gradient that omits a factor of the forward

/// q k^T / sqrt(dk); with the bug, dq and dk lack the divisor.
Tensor scores(const Tensor& q, const Tensor& k, bool bug) {
  const double divisor = std::sqrt(static_cast<double>(q.dim(-1))), of_gradient = bug ? 1 : divisor;
  return custom_op(
      "scores", {q, k}, [=](const Tensors& in) { return matmul(in[0], in[1], {.transpose_b = true}) / divisor; },
      [=](const Tensor& dy, const Tensors& in, const Tensor&) -> Tensors {
        return {matmul(dy, in[1]) / of_gradient, matmul(dy, in[0], {.transpose_a = true}) / of_gradient};
      });
}

GradcheckResult check_attention(const Tensor& x, const Tensors& weights, bool bug) {
  const auto f = [&](const Tensors& w) {
    return Tensors{matmul(softmax(scores(matmul(x, w[0]), matmul(x, w[1]), bug)), matmul(x, w[2]))};
  };
  return gradcheck(f, weights, {.names = {"w_q", "w_k", "w_v"}});
}

TEST_F(PlantedBugs, GradientsOfTheProjectionsTooLargeByTheRootOfTheKeySize) {
  const Tensor x = random.normal({2, 3, 4});
  const Tensors weights{random.normal({4, 9}), random.normal({4, 9}), random.normal({4, 9})};
  const GradcheckResult right = check_attention(x, weights, false), wrong = check_attention(x, weights, true);
  EXPECT_TRUE(right.passed()) << right;
  ASSERT_FALSE(wrong.passed()) << wrong;
  EXPECT_GT(wrong.exact_error, wrong.exact_limit) << "dual numbers find it, too";
  for (const GradcheckElement& element : wrong.worst) {
    EXPECT_NE(element.input, "w_v") << "whose gradient does not pass through the scores";
    EXPECT_NEAR(element.analytic / element.numeric, 3, 1e-3) << "the ratio tells the bug: sqrt(9)";
  }
}

// ---- a recurrence that is cut at every step

Tensor three_steps(const CellMemory& memory, const Tensor& x, bool bug) {
  Tensor slots = memory.initial_memory(x.dim(0));
  for (int step = 0; step < 3; ++step) slots = memory(bug ? slots.detach() : slots, x).memory;
  return slots;
}

TEST_F(PlantedBugs, AStateThatIsDetachedAtEachStep) {
  const CellMemory memory(3, random, {.slots = 3, .slot_size = 4, .heads = 2});
  const Tensor x = random.normal({2, 3});
  const GradcheckResult right = gradcheck(memory, [&](const CellMemory& m) { return three_steps(m, x, false); });
  const GradcheckResult wrong = gradcheck(memory, [&](const CellMemory& m) { return three_steps(m, x, true); });
  EXPECT_TRUE(right.passed()) << right;
  EXPECT_FALSE(wrong.passed()) << wrong;
}

/// The library's own loops: the first input reaches the last answer, and the gradient goes back to it.
TEST_F(PlantedBugs, NoRecurrentLayerOfTheLibraryCutsItsState) {
  const Lstm lstm(3, 4, random);
  const Gru gru(3, 4, random);
  const Rnn rnn(3, 4, random);
  const RelationalRNN network(3, 4, 2, random, {.slots = 3, .slot_size = 4, .heads = 2});
  const auto check = [&](const char* name, auto last) {
    const Tensor x = random.normal({2, 6, 3});
    const GradcheckResult result = gradcheck(last, x);
    EXPECT_TRUE(result.passed()) << name << ": " << result;
    x.watch();
    Tape tape;
    const Tensor y = last(x);
    tape.backward({y}, {random.normal(y.shape())});
    EXPECT_GT(norm(at_step(x.grad(), 0)).item(), 1e-4) << name;
  };
  check("Lstm", [&](const Tensor& x) { return lstm(x).state.h; });
  check("Gru", [&](const Tensor& x) { return gru(x).h; });
  check("Rnn", [&](const Tensor& x) { return rnn(x).h; });
  check("RelationalRNN", [&](const Tensor& x) { return network.last(x).y; });
}

// ---- other functions, with gradients of their own

/// With the bug, over the slots instead of the features; with equal numbers of both, no shape reveals it.
Tensor normalised(const Tensor& x, bool bug) { return bug ? transpose(layer_norm(transpose(x))) : layer_norm(x); }

TEST_F(PlantedBugs, ALayerNormOverTheWrongAxis) {
  const Tensor x = random.normal({2, 4, 4}) + arange(0, 4);
  const Tensor centred = x - mean(x, -1, {.keepdims = true});
  const Tensor formula = centred / sqrt(mean(square(centred), -1, {.keepdims = true}) + 1e-5);
  EXPECT_TRUE(gradcheck([](const Tensor& v) { return normalised(v, true); }, x).passed());
  EXPECT_GT(difference(normalised(x, true), formula), 0.1);
  EXPECT_LT(difference(normalised(x, false), formula), 1e-12);
  EXPECT_LT(difference(LayerNorm(4)(x), formula), 1e-12);
  EXPECT_GT(difference(layer_norm(x, {}, {}, {.axes = 2}), formula), 0.1) << "over slots and features together";
}

/// A probability is a poor logit: the loss of a sure and right answer stays above ln(e + 7) - 1 for 8 classes.
TEST_F(PlantedBugs, ASoftmaxBeforeTheCrossEntropy) {
  const Tensor labels = indices({2, 0, 7});
  const auto loss = [&](const Tensor& logits, bool bug) {
    return cross_entropy(bug ? softmax(logits) : logits, labels);
  };
  EXPECT_TRUE(gradcheck([&](const Tensor& v) { return loss(v, true); }, random.normal({3, 8})).passed());
  const Tensor sure = 50 * one_hot(labels, 8), unsure = random.normal({3, 8});
  EXPECT_NEAR(loss(sure, false).item(), 0, 1e-12);
  EXPECT_NEAR(loss(sure, true).item(), std::log(std::exp(1.0) + 7) - 1, 1e-12);
  const Tensor plain = -1 * mean(log(sum(softmax(unsure) * one_hot(labels, 8), -1)));
  EXPECT_NEAR(loss(unsure, false).item(), plain.item(), 1e-12);
  EXPECT_GT(std::abs(loss(unsure, true).item() - plain.item()), 0.01);
}

/// Trainings pass logits to cross_entropy: no model of the library ends in a softmax.
TEST_F(PlantedBugs, NoModelOfTheLibraryAnswersWithProbabilities) {
  for (const std::string_view name : model_names()) {
    const auto model = make_model(name, {.input = 3, .hidden = 8, .output = 4, .slot_size = 8}, random);
    const Tensor y = (*model)(random.normal({5, 6, 3}));
    ASSERT_EQ(y.shape(), (Shape{5, 4})) << name;
    EXPECT_LT(min(y).item(), 0) << name;
    EXPECT_GT(difference(sum(y, -1), ones({5})), 1e-2) << name;
  }
}

/// An MLP whose layers were made by repeating one handle; visit names every layer, or the weight once.
struct RepeatedLayers {
  std::vector<Tensor> weights;
  bool named_once;
  RepeatedLayers(const Tensor& weight, bool once) : weights(2, parameter(weight)), named_once(once) {}
  Tensor operator()(const Tensor& x) const { return linear(tanh(linear(x, weights[0])), weights[1]); }
  void visit(auto&& see) const {
    if (named_once)
      see("weight", weights[0]);
    else
      see("weights", weights);
  }
};

std::size_t separate_leaves(const auto& module) {
  std::set<const double*> leaves;
  for (const NamedTensor& parameter : parameters(module)) leaves.insert(parameter.tensor.values<double>().data());
  return leaves.size();
}

TEST_F(PlantedBugs, LayersThatAreSharedByAccident) {
  const Tensor x = random.normal({3, 4}), w = random.normal({4, 4});
  const auto check = [&](const RepeatedLayers& module) {
    return gradcheck(module, [&](const RepeatedLayers& m) { return m(x); }).passed();
  };
  const RepeatedLayers of_two_names(w, false), of_one_name(w, true);
  EXPECT_EQ(separate_leaves(of_two_names), 1u) << "of two names";
  EXPECT_FALSE(check(of_two_names)) << "no name can be moved alone";
  EXPECT_TRUE(check(of_one_name)) << "its gradient is right: only the count tells";
  EXPECT_NE(count_parameters(of_one_name), 2 * 4 * 4);
  const std::vector<Linear> layers(3, Linear(4, 4, random));
  copy_values(zeros({4, 4}), layers[0].weight);
  EXPECT_GT(norm(layers[1].weight).item(), 0.1) << "a copied Linear has weights of its own";
}

TEST_F(PlantedBugs, EveryParameterOfTheLibraryIsALeafOfItsOwn) {
  const auto check = [](const char* name, const auto& module) {
    EXPECT_EQ(separate_leaves(module), parameters(module).size()) << name;
  };
  const RelationalMemoryCore core(3, random, {.slots = 3, .head_size = 2, .heads = 2, .blocks = 2, .mlp_layers = 4});
  check("RelationalMemoryCore", core);
  check("a clone of it", clone(core));
  check("NotebookMemory", NotebookMemory(random, {.slots = 3, .slot_size = 4, .heads = 2}));
  check("RelationalMemory", RelationalMemory(3, random, {.slots = 3, .slot_size = 4, .heads = 2}));
  check("RelationalRNN", RelationalRNN(3, 4, 2, random, {.slots = 3, .slot_size = 4, .heads = 2}));
  for (const std::string_view name : model_names()) check(name.data(), *make_model(name, {}, random));
  for (std::size_t k = 1; k < core.mlp.size(); ++k)
    EXPECT_GT(difference(core.mlp[k].weight, core.mlp[0].weight), 1e-2) << "layers begin differently";
}

// ---- slots that remain equal

/// The largest difference between the slots after the first, at the end of some training.
double spread_after_training(InitialMemory initial, Random random) {
  const RelationalRNN network(3, 6, 2, random, {.slots = 4, .slot_size = 6, .heads = 2, .initial = initial});
  const Tensor x = random.normal({8, 5, 3}), target = random.normal({8, 2});
  Adam adam(network, {.lr = 1e-2});
  for (int step = 0; step < 20; ++step) {
    Tape tape;
    tape.backward(mse(network.last(x).y, target));
    adam.step();
  }
  const Tensor memory = network.last(x).state.memory;
  return difference(slice(memory, {all, range(2, 4)}), broadcast_to(slice(memory, {all, range(1, 2)}), {8, 2, 6}));
}

TEST_F(PlantedBugs, AnInitialMemoryOfZerosLeavesAllSlotsButTheFirstEqual) {
  const CellMemory memory(3, random, {.slots = 3, .slot_size = 4, .heads = 2, .initial = InitialMemory::zeros});
  const Tensor x = random.normal({2, 3});
  EXPECT_TRUE(gradcheck(memory, [&](const CellMemory& m) { return three_steps(m, x, false); }).passed());
  EXPECT_EQ(spread_after_training(InitialMemory::zeros, random), 0) << "whatever is trained";
  EXPECT_GT(spread_after_training(InitialMemory::identity, random), 1e-3);
}

}  // namespace
}  // namespace retrace
