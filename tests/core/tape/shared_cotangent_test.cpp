// One cotangent for backwards on many threads at once: every thread reads it where it is, and none writes to it, keeps
// it, or takes another's loan of it away.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/nn/nn.h>
#include <retrace/tests/compare.h>

namespace retrace {
namespace {

constexpr std::int64_t many = 3000;

/// Runs body(worker) on three new threads and on this one, all at once.
template <class Body> void with_other_threads(Body&& body) {
  std::atomic<int> waiting{4};
  const auto begin = [&](int worker) {
    set_threads(1);
    --waiting;
    while (waiting > 0) std::this_thread::yield();
    body(worker);
  };
  std::vector<std::jthread> threads;
  for (int worker = 1; worker < 4; ++worker) threads.emplace_back(begin, worker);
  const ThreadsScope scope(1);
  begin(0);
}

/// Sums pass one buffer to both of their inputs: one of them adds another gradient to it, two are changed in place.
void expect_gradients(const Tensor& dy, int worker) {
  const double scale = worker + 1;
  const Tensor a = parameter(full({many}, 2, f64)), b = parameter(full({many}, 3, f64));
  Tape tape;
  Tensors outputs;  // which holds them alone, so that their cotangents are read where they are
  {
    const Tensor u = a * scale, v = b * 3;
    outputs.push_back(u * 5);
    outputs.push_back(u + v);
    outputs.push_back((a * 7 + b * 11) * 13);
    outputs.push_back(identity(b));
  }
  tape.backward(outputs, {dy, dy, dy, dy});
  const auto given = dy.values<double>(), da = a.grad_values<double>(), db = b.grad_values<double>();
  for (std::size_t k = 0; k < given.size(); ++k) {
    ASSERT_NEAR(da[k], given[k] * (6 * scale + 7 * 13), 1e-10);
    ASSERT_NEAR(db[k], given[k] * (3 + 11 * 13 + 1), 1e-10);
  }
  for (double& element : b.mutable_grad_values<double>()) element = -1;  // as a clip does
}

TEST(SharedCotangent, GivesEachThreadItsOwnGradients) {
  const Tensor dy = Random(3).normal({many}, f64), before = dy.clone();
  for (int round = 0; round < 20; ++round)
    with_other_threads([&](int worker) {
      for (int again = 0; again < 5; ++again) expect_gradients(dy, worker);
    });
  EXPECT_TRUE(same_bits(dy, before));
}

/// The output is a leaf that all threads share.
TEST(SharedCotangent, OfASharedLeafIsRead) {
  const Tensor dy = Random(4).normal({many}, f64), before = dy.clone();
  std::vector<Tensor> leaves;
  for (int worker = 0; worker < 4; ++worker) leaves.push_back(dy.detach().watch());
  with_other_threads([&](int worker) {
    for (int again = 0; again < 20; ++again) {
      const Tensor& leaf = leaves[static_cast<std::size_t>(worker)];
      leaf.zero_grad();
      Tape tape;
      tape.backward({leaf, leaf * 2}, {dy, dy});
      ASSERT_DOUBLE_EQ(leaf.grad_values<double>()[7], 3 * dy.values<double>()[7]);
    }
  });
  EXPECT_TRUE(same_bits(dy, before));
}

/// The gradients of both inputs of a sum, seen during the walk, after the owner of the cotangent has changed it.
void expect_own_gradients(const std::function<void(const Tensor& dy)>& in_between) {
  const Tensor dy = Random(5).normal({many}, f64), before = dy.clone();
  const Tensor a = parameter(full({many}, 2, f64)), b = parameter(full({many}, 3, f64));
  Tape tape;
  Tensors outputs, seen;
  outputs.push_back(a * 1.0 + b * 1.0);
  BackwardWalk walk(tape, outputs, {dy});
  in_between(dy);
  ASSERT_TRUE(walk.next());
  for (const int input : {0, 1}) seen.push_back(walk.record().input(input).grad());
  while (walk.next()) {
  }
  for (double& element : dy.mutable_values<double>()) element = 0;
  for (const Tensor& gradient : seen) EXPECT_TRUE(same_bits(gradient, before));
}

TEST(SharedCotangent, MayBeChangedByItsOwnerAfterTheWalk) {
  expect_own_gradients([](const Tensor&) {});
}

TEST(SharedCotangent, IsNotGivenBackByAWalkInsideOfAnother) {
  expect_own_gradients([](const Tensor& dy) {
    const Tensor leaf = dy.detach().watch();
    Tape inner;
    inner.backward({leaf, leaf * 2}, {dy, dy});
  });
}

}  // namespace
}  // namespace retrace
