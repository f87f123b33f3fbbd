// Gradient checks as assertions of GoogleTest. (core itself does not need GoogleTest: include this in tests.)
//
//   EXPECT_GRADIENTS(f, {x, w});                               // f(Tensors), or f(Tensor) with one x
//   EXPECT_GRADIENTS(f, x, {.kinks = {0}});                    // with GradcheckOptions
//   EXPECT_GRADIENTS(model, [&](const Model& m) { return m(x); });
#pragma once

#include <gtest/gtest.h>

#include <retrace/core/checks/gradcheck.h>

namespace retrace::detail {

inline testing::AssertionResult as_assertion(const GradcheckResult& result) {
  if (result.passed()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << result;
}

}  // namespace retrace::detail

/// Fails, with the report of gradcheck and its worst elements, unless retrace::gradcheck(...) passes.
#define EXPECT_GRADIENTS(...) EXPECT_TRUE(::retrace::detail::as_assertion(::retrace::gradcheck(__VA_ARGS__)))
/// Likewise, and ends the test.
#define ASSERT_GRADIENTS(...) ASSERT_TRUE(::retrace::detail::as_assertion(::retrace::gradcheck(__VA_ARGS__)))
