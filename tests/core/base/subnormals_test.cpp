// Subnormal numbers are kept, or flushed to zero on every thread of a loop.
#include <retrace/core/base/parallel.h>
#include <retrace/core/base/subnormals.h>
#include <retrace/core/base/threads_scope.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace retrace {
namespace {

/// 2e-40 from 1e-38 and 0.02, computed on as many threads as the loop has.
std::vector<float> products() {
  std::vector<float> result(64, -1);
  volatile float small = 1.2e-38F, factor = 0.02F;
  parallel_for(64, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t k = begin; k < end; ++k) result[static_cast<std::size_t>(k)] = small * factor;
  });
  return result;
}
bool are_kept(const std::vector<float>& numbers) {
  return std::ranges::all_of(numbers, [](float x) { return x > 0; });
}
bool are_flushed(const std::vector<float>& numbers) {
  return std::ranges::all_of(numbers, [](float x) { return x == 0; });
}

TEST(Subnormals, AreKeptUnlessAScopeFlushesThemOnEveryThread) {
#if !defined(__SSE__)
  GTEST_SKIP() << "they are always kept here";
#endif
  for (const int count : {1, 2, 4}) {
    const ThreadsScope threads_of_loops(count);
    EXPECT_TRUE(are_kept(products())) << count;
    {
      const SubnormalsScope flushed(Subnormals::flushed);
      EXPECT_EQ(subnormals(), Subnormals::flushed);
      EXPECT_TRUE(are_flushed(products())) << count;
      {
        const SubnormalsScope kept(Subnormals::kept);
        EXPECT_TRUE(are_kept(products())) << count;
      }
      EXPECT_TRUE(are_flushed(products())) << count;
    }
    EXPECT_EQ(subnormals(), Subnormals::kept);
    EXPECT_TRUE(are_kept(products())) << "the threads of a loop forget it: " << count;
  }
}

/// A subnormal factor counts as 0, too.
TEST(Subnormals, AreFlushedAsOperands) {
#if !defined(__SSE__)
  GTEST_SKIP() << "they are always kept here";
#endif
  volatile float subnormal = 1e-40F, factor = 1e10F;
  EXPECT_GT(subnormal * factor, 0);
  const SubnormalsScope flushed(Subnormals::flushed);
  EXPECT_EQ(subnormal * factor, 0);
}

}  // namespace
}  // namespace retrace
