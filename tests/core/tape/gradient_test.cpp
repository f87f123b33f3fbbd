// The buffers of gradients (core/tape/gradient.h): random graphs, whose gradients are shared, handed on, lent and
// written over each other, have bit for bit the gradients that a tape gives which keeps everything and reuses nothing.
#include <gtest/gtest.h>
#include <retrace/core/core.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/compare.h>

#include <random>
#include <set>
#include <vector>

namespace retrace {
namespace {

using Choose = std::mt19937;
constexpr std::int64_t size = 4;  // of all tensors, [size, size]

int below(Choose& choose, int count) { return static_cast<int>(choose() % static_cast<unsigned>(count)); }

/// One of many ops, of a and b or of a alone: some pass their gradient on as it is, some write over it, some read it in
/// another order than they write, some add to a part.
Tensor some_op(Choose& choose, const Tensor& a, const Tensor& b) {
  const std::int64_t row = below(choose, size);
  switch (below(choose, 22)) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return tanh(a);
    case 4:
      return relu(a);
    case 5:
      return sigmoid(a);
    case 6:
      return identity(a);
    case 7:
      return 0.5 * a;
    case 8:
      return reshape(tanh(reshape(a, {size * size})), {size, size});
    case 9:
      return concat({slice(a, {range(0, 2)}), slice(b, {range(2, size)})}, 0);
    case 10:
      return a + b[row];
    case 11:
      return b[row] * a;
    case 12:
      return 0.3 * matmul(a, b);
    case 13:
      return softmax(a, below(choose, 2));
    case 14:
      return layer_norm(a, b[row], b[0]);
    case 15:
      return residual_layer_norm(a, b, {}, {});
    case 16:
      return transpose(a);
    case 17:
      return rms_norm(a, b[row]);
    case 18:
      return reshape(attention(reshape(a, {1, size, size}), reshape(b, {1, size, size}), reshape(a, {1, size, size}),
                               {.heads = 2}),
                     {size, size});
    case 19:
      return a * a;
    case 20:
      return cumsum(a, 1) - log_softmax(b, 1);
    default:
      return flip(a, {0}) + a;
  }
}

struct Outcome {
  Tensors seen;        // parameters, and what is held to the end
  Tensors cotangents;  // as they are after the walk
  Tensors steps;       // the gradients of each record's outputs and inputs after its backward, where the walk stepped
};

void append_gradient(const Node& node, Tensors& gradients) {
  if (node.gradient == nullptr) {
    gradients.emplace_back();
  } else {
    gradients.push_back(
        tensor(std::span(node.gradient_values<double>(), static_cast<std::size_t>(node.numel())), node.shape, f64));
  }
}

/// The values that a reader of a stepping walk sees after the backward of a record.
void append_gradients(const Record& record, Tensors& gradients) {
  bool any_output = false;
  for (int j = 0; j < record.outputs(); ++j) {
    append_gradient(OpAccess::node(record.out(j)), gradients);
    any_output = any_output || gradients.back().defined();
  }
  EXPECT_TRUE(any_output) << record;
  for (int i = 0; i < record.inputs(); ++i) append_gradient(OpAccess::node(record.in(i)), gradients);
}

/// Builds a graph by a seed and walks back over it. Both runs of a seed differ in nothing but the tape.
Outcome walk_back(unsigned seed, const TapeOptions& options) {
  Choose choose(seed);
  Random random(seed);
  Outcome outcome;
  for (const char* name : {"u", "v", "w"}) outcome.seen.push_back(parameter(random.normal({size, size}, f64), name));
  Tape tape(options);
  Tensors alive(outcome.seen);
  for (int step = 0; step < 12; ++step) {
    const Tensor a = alive[choose() % alive.size()], b = alive[choose() % alive.size()];
    const Tensor y = some_op(choose, a, b);
    alive.push_back(y);
    if (below(choose, 4) == 0) outcome.seen.push_back(y);
    if (below(choose, 3) == 0) alive.erase(alive.begin() + below(choose, static_cast<int>(alive.size())));
  }
  Tensors outputs;
  for (int k = 0; k < 3; ++k) {
    outputs.push_back(below(choose, 2) == 0 ? alive.back() : alive[choose() % alive.size()]);
    switch (k == 0 ? 0 : below(choose, 5)) {
      case 1:
        outcome.cotangents.emplace_back();
        break;
      case 2:
        outcome.cotangents.push_back(outcome.cotangents[0]);
        break;
      default:
        outcome.cotangents.push_back(random.normal({size, size}, f64));
    }
  }
  alive.clear();
  if (below(choose, 2) == 0) {
    tape.backward(outputs, outcome.cotangents);
  } else {
    BackwardWalk walk(tape, outputs, outcome.cotangents);
    while (walk.next()) append_gradients(walk.record(), outcome.steps);
  }
  return outcome;
}

bool is_reached(unsigned seed) {
  try {
    walk_back(seed, {});
    return true;
  } catch (const TapeError&) {
    return false;  // nothing leads from the outputs to a parameter
  }
}

TEST(Gradient, OfARandomGraphHasTheBitsOfATapeThatKeepsEverything) {
  int compared = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(text("seed ", seed));
    if (!is_reached(seed)) continue;
    const Outcome reusing = walk_back(seed, {}), keeping = walk_back(seed, {.keep = true});
    ASSERT_EQ(reusing.steps.size(), keeping.steps.size());
    for (std::size_t k = 0; k < reusing.steps.size(); ++k) {
      ASSERT_EQ(reusing.steps[k].defined(), keeping.steps[k].defined()) << "step " << k;
      if (!reusing.steps[k].defined()) continue;
      EXPECT_TRUE(same_bits(reusing.steps[k], keeping.steps[k])) << "step " << k;
    }
    ASSERT_EQ(reusing.seen.size(), keeping.seen.size());
    for (std::size_t k = 0; k < reusing.seen.size(); ++k) {
      ASSERT_EQ(reusing.seen[k].has_grad(), keeping.seen[k].has_grad()) << k;
      if (!reusing.seen[k].has_grad()) continue;
      EXPECT_TRUE(same_bits(reusing.seen[k].grad(), keeping.seen[k].grad())) << k;
      ++compared;
    }
    for (std::size_t k = 0; k < reusing.cotangents.size(); ++k)
      if (reusing.cotangents[k].defined()) {
        EXPECT_TRUE(same_bits(reusing.cotangents[k], keeping.cotangents[k])) << "a cotangent was written to";
      }
  }
  EXPECT_GT(compared, 6000);
}

TEST(Gradient, ThatAUserSeesSharesItsBufferWithNothingElseThatHeSees) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(text("seed ", seed));
    if (!is_reached(seed)) continue;
    const Outcome outcome = walk_back(seed, {});
    std::set<const double*> buffers;
    for (const Tensor& cotangent : outcome.cotangents)
      if (cotangent.defined()) buffers.insert(cotangent.values<double>().data());
    std::size_t count = buffers.size();
    for (std::size_t k = 0; k < outcome.seen.size(); ++k) {
      const Tensor& x = outcome.seen[k];
      if (!x.has_grad()) continue;
      buffers.insert(x.grad_values<double>().data());
      ++count;
    }
    EXPECT_EQ(buffers.size(), count);
  }
}

TEST(Gradient, ThatFlowGaveAwayCannotBeAskedForAgain) {
  static constexpr OpInfo info{"twice", "y = x", "dx = dy", "x"};
  const Tensor x = parameter(tensor({1, 2}), "x");
  Tape tape;
  Tensor y = empty_like(x);
  copy_values(x.detach(), y);
  record(info,
         [](Record& r) {
           const auto [dy, dx] = r.flow<float>(0);
           dx.put(2, [dy = dy](std::int64_t k) { return dy[k]; });
           r.grad_out<float>();
         },
         {&x}, {&y});
  Tensor loss = sum(scale(y, 2));
  y = Tensor();
  try {
    tape.backward(loss);
    FAIL() << "nothing was thrown";
  } catch (const TapeError& error) {
    EXPECT_STREQ(
        error.what(),
        "backward: twice asked for the gradient of output 0 after flow() had given its buffer away; call flow() "
        "last");
  }
}

}  // namespace
}  // namespace retrace
