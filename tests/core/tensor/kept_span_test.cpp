// A span of mutable_values() may outlive the call, and be written through when ops have used the values: gradients are
// those of the values that the ops saw.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include <retrace/core/tensor/memory.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

using Numbers = std::vector<double>;

Numbers gradient_of(const Tensor& x) {
  const auto values = x.grad_values<double>();
  return {values.begin(), values.end()};
}

TEST(KeptSpan, AWriteAfterTheOpDoesNotReachItsGradient) {
  const Tensor x = parameter(tensor({1.0, 2.0}, f64), "x");
  const std::span<double> kept = x.mutable_values<double>();
  Tape tape;
  const Tensor y = square(x);
  kept[0] = 100;
  tape.backward(sum(y));
  EXPECT_EQ(gradient_of(x), (Numbers{2, 4}));
  EXPECT_EQ(x.values<double>()[0], 100) << "the tensor itself is written to";
}

TEST(KeptSpan, EachOpHasTheGradientOfTheValuesThatItSaw) {
  const Tensor x = parameter(tensor({1.0}, f64), "x");
  const std::span<double> kept = x.mutable_values<double>();
  Tape tape;
  const Tensor first = square(x);
  kept[0] = 10;
  const Tensor second = square(x);
  kept[0] = 100;
  tape.backward(sum(first + second));
  EXPECT_EQ(gradient_of(x), Numbers{2 + 20});
}

TEST(KeptSpan, ViewsAndCutOffHandlesShareTheSpan) {
  const Tensor all = tensor({{1.0, 2.0}, {3.0, 4.0}}, f64);
  const std::span<double> kept = all.mutable_values<double>();
  const Tensor w = parameter(ones({2}, f64), "w");
  Tape tape;
  const Tensor y = w * all.detach()[1] + w * reshape(all, {4})[3];
  std::ranges::fill(kept, 100.0);
  tape.backward(sum(y));
  EXPECT_EQ(gradient_of(w), (Numbers{3 + 4, 4 + 4}));
}

TEST(KeptSpan, IndicesAreCoveredToo) {
  const Tensor rows = indices({2, 0});
  const std::span<std::int64_t> kept = rows.mutable_values<std::int64_t>();
  const Tensor x = parameter(ones({3}, f64), "x");
  Tape tape;
  const Tensor y = take(x, rows);
  kept[0] = 1;
  tape.backward(sum(y));
  EXPECT_EQ(gradient_of(x), (Numbers{1, 0, 1}));
}

TEST(KeptSpan, AGradientThatIsComputedWithIsCoveredToo) {
  const Tensor x = parameter(tensor({3.0}, f64), "x"), w = parameter(tensor({1.0}, f64), "w");
  {
    Tape tape;
    tape.backward(sum(square(x)));
  }
  const std::span<double> kept = x.mutable_grad_values<double>();
  Tape tape;
  const Tensor y = w * x.grad();
  kept[0] = 100;
  tape.backward(sum(y));
  EXPECT_EQ(gradient_of(w), Numbers{6});
}

TEST(KeptSpan, AnOpOfOnesOwnMayKeepTheSpanOfItsResult) {
  const Tensor x = parameter(tensor({1.0}, f64), "x");
  Tape tape;
  const Tensor y = x * 3.0;
  const std::span<double> kept = y.mutable_values<double>();
  const Tensor z = square(y);
  kept[0] = 100;
  tape.backward(sum(z));
  EXPECT_EQ(gradient_of(x), Numbers{18});
}

TEST(KeptSpan, UpdatesAreCounted) {
  const Tensor x = parameter(tensor({1.0}, f64), "x");
  Tape tape;
  const Tensor y = square(x);
  x.update<double>([](std::span<double> values) { values[0] = 2; });
  EXPECT_THROW(tape.backward(sum(y)), TapeError);
}

/// A span that was used up costs nothing where the library itself wrote.
TEST(KeptSpan, OnlyValuesWithASpanAreCopied) {
  const auto bytes_of_forward = [](const Tensor& x) {
    Tape tape;
    const std::int64_t before = memory_stats().live_bytes;
    const Tensor y = square(x);
    return memory_stats().live_bytes - before;
  };
  Random random(1);
  const Tensor x = parameter(random.normal({1000}, f64) * 2.0, "x"), copy = parameter(x.clone(), "copy");
  EXPECT_EQ(bytes_of_forward(x), bytes_of_forward(copy));
  const std::int64_t plain = bytes_of_forward(x);
  x.mutable_values<double>();
  EXPECT_GE(bytes_of_forward(x), plain + 8000);
}

}  // namespace
}  // namespace retrace
