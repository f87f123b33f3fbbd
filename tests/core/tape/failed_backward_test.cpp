// A backward that throws, wherever it does, leaves every gradient as it was.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/trace/trace.h>
#include <retrace/nn/nn.h>

namespace retrace {
namespace {

struct PlannedFailure : std::exception {};

/// y = x, whose backward throws.
Tensor failing(const Tensor& x) {
  return custom_op(
      "failing", {x}, [](const Tensors& in) { return in[0].clone(); },
      [](const Tensor&, const Tensors&, const Tensor&) -> Tensors { throw PlannedFailure(); });
}

/// Computes with x and w on a tape, and fails on the way back after gradients of both have begun.
struct Failure {
  std::string name;
  std::function<void(Tape& tape, const Tensor& x, const Tensor& w)> run;
};

Tensor contributions_after(const Tensor& failed, const Tensor& x, const Tensor& w) {
  return sum(failed) + sum(x * 3.0) + sum(square(w)) + sum(x * w);
}

std::vector<Failure> failures() {
  return {{"a saved value was changed",
           [](Tape& tape, const Tensor& x, const Tensor& w) {
             const Tensor a = x * 2.0, y = square(a);
             a.mutable_values<double>()[0] = 9;
             EXPECT_THROW(tape.backward(contributions_after(y, x, w)), TapeError);
           }},
          {"a custom backward throws",
           [](Tape& tape, const Tensor& x, const Tensor& w) {
             EXPECT_THROW(tape.backward(contributions_after(failing(x * w), x, w)), PlannedFailure);
           }},
          {"the first record on the tape throws",
           [](Tape& tape, const Tensor& x, const Tensor& w) {
             EXPECT_THROW(tape.backward(contributions_after(failing(x), x, w)), PlannedFailure);
           }},
          {"a gradient is not finite",
           [](Tape& tape, const Tensor& x, const Tensor& w) {
             EXPECT_THROW(tape.backward(contributions_after(sqrt(x - x), x, w)), TapeError);
           }},
          {"a walk by steps throws",
           [](Tape& tape, const Tensor& x, const Tensor& w) {
             const Tensor loss = contributions_after(failing(x * w), x, w);
             EXPECT_THROW(
                 {
                   BackwardWalk walk(tape, loss);
                   while (walk.next()) {
                   }
                 },
                 PlannedFailure);
           }},
          {"a walk is left early",
           [](Tape& tape, const Tensor& x, const Tensor& w) {
             BackwardWalk walk(tape, contributions_after(x * w, x, w));
             do ASSERT_TRUE(walk.next());
             while (!x.has_grad() || !w.has_grad());
           }},
          {"a trace of it throws", [](Tape& tape, const Tensor& x, const Tensor& w) {
             EXPECT_THROW(trace_backward(tape, contributions_after(failing(x * w), x, w)), PlannedFailure);
           }}};
}

class FailedBackward : public testing::TestWithParam<bool> {};

std::vector<double> gradient_of(const Tensor& x) {
  if (!x.has_grad()) return {};
  return {x.grad_values<double>().begin(), x.grad_values<double>().end()};
}

void run_failing(const Failure& failure, const Tensor& x, const Tensor& w, bool keep) {
  SCOPED_TRACE(failure.name);
  Tape tape({.keep = keep, .check_finite = failure.name == "a gradient is not finite"});
  failure.run(tape, x, w);
}

TEST_P(FailedBackward, LeavesNoGradientWhereThereWasNone) {
  for (const Failure& failure : failures()) {
    const Tensor x = parameter(tensor({1, 2}, f64), "x"), w = parameter(tensor({4, 5}, f64), "w");
    run_failing(failure, x, w, GetParam());
    EXPECT_FALSE(x.has_grad() || w.has_grad()) << failure.name;
    {
      Tape tape;
      tape.backward(sum(x * 5.0));
    }
    EXPECT_EQ(gradient_of(x), (std::vector<double>{5, 5})) << failure.name;
  }
}

TEST_P(FailedBackward, LeavesGradientsThatWaitToBeAddedTo) {
  for (const Failure& failure : failures()) {
    const Tensor x = parameter(tensor({1, 2}, f64), "x"), w = parameter(tensor({4, 5}, f64), "w");
    {
      Tape tape;
      tape.backward(sum(x * w) * 7.0);
    }
    run_failing(failure, x, w, GetParam());
    EXPECT_EQ(gradient_of(x), (std::vector<double>{28, 35})) << failure.name;
    EXPECT_EQ(gradient_of(w), (std::vector<double>{7, 14})) << failure.name;
    {
      Tape tape;
      tape.backward(sum(x * 5.0));
    }
    EXPECT_EQ(gradient_of(x), (std::vector<double>{33, 40})) << failure.name;
  }
}

TEST_P(FailedBackward, DropsGradientsThatWereUsedUp) {
  for (const Failure& failure : failures()) {
    const Tensor x = parameter(tensor({1, 2}, f64), "x"), w = parameter(tensor({4, 5}, f64), "w");
    {
      Tape tape;
      tape.backward(sum(x * w) * 7.0);
    }
    x.use_up_grad();
    run_failing(failure, x, w, GetParam());
    EXPECT_FALSE(x.has_unused_grad()) << failure.name;
    EXPECT_EQ(gradient_of(w), (std::vector<double>{7, 14})) << failure.name;
    {
      Tape tape;
      tape.backward(sum(x * 5.0));
    }
    EXPECT_EQ(gradient_of(x), (std::vector<double>{5, 5})) << failure.name;
  }
}

TEST_P(FailedBackward, LeavesNoGradientOfResultsThatSomebodyHolds) {
  const Tensor x = parameter(tensor({1, 2}, f64), "x");
  Tape tape({.keep = GetParam()});
  const Tensor a = failing(x), b = a * 2.0, c = square(b);
  EXPECT_THROW(tape.backward(sum(c)), PlannedFailure);
  EXPECT_FALSE(a.has_grad() || b.has_grad() || c.has_grad());
}

TEST_P(FailedBackward, LeavesGradientsThatSomebodyHolds) {
  const Tensor x = parameter(tensor({1, 2}, f64), "x");
  {
    Tape tape;
    tape.backward(sum(x * 5.0));
  }
  const Tensor held = x.grad();
  Tape tape({.keep = GetParam()});
  EXPECT_THROW(tape.backward(sum(failing(x)) + sum(x)), PlannedFailure);
  EXPECT_EQ(held.at({0}), 5);
  EXPECT_EQ(gradient_of(x), (std::vector<double>{5, 5}));
}

TEST_P(FailedBackward, OfABackwardInsideOfABackward) {
  const Tensor x = parameter(tensor({1, 2}, f64), "x"), w = parameter(tensor({3, 3}, f64), "w");
  const Tensor y = sum(square(x));
  Tape tape({.keep = GetParam()});
  const Tensor inner = custom_op(
      "inner", {x}, [](const Tensors& in) { return in[0].clone(); },
      [&](const Tensor& dy, const Tensors&, const Tensor&) {
        Tape another;
        try {
          another.backward(sum(failing(w)) + sum(w));
        } catch (const PlannedFailure&) {
        }
        return Tensors{dy};
      });
  tape.backward(sum(inner) + sum(w * 2.0));
  EXPECT_EQ(gradient_of(x), (std::vector<double>{1, 1}));
  EXPECT_EQ(gradient_of(w), (std::vector<double>{2, 2}));
}

INSTANTIATE_TEST_SUITE_P(OnATape, FailedBackward, testing::Bool(),
                         [](const auto& keeps) { return keeps.param ? "ThatKeeps" : "ThatKeepsNothing"; });

}  // namespace
}  // namespace retrace
