// Gradients at sizes at which an op uses several blocks or another path: more elements than one thread takes, more rows
// than a block or a register tile has, or more weights than the cache holds.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include <retrace/core/base/threads_scope.h>
#include <retrace/core/tensor/random.h>
#include <retrace/models/checks/case_run.h>
#include <retrace/ops/ops.h>

namespace retrace {

/// Checks f at the inputs by dual numbers, which check all elements at once; differences would take two calls per
/// element. Also lets the gradients add to others and reuse their buffers, in both precisions, on two threads.
inline void expect_right_gradients(const std::string& name, const Function& f, const Tensors& inputs) {
  SCOPED_TRACE(name);
  const CheckedName checked{.name = name, .is_op = false, .cases = {}};
  const CheckCase one{f, inputs};
  const auto run = [&](int threads, const CaseSetting& setting) {
    const ThreadsScope scope(threads);
    return run_case(checked, one, setting);
  };
  const auto expect_close = [&](const CaseOutcome& alone, const CaseSetting& setting, double limit) {
    const CaseOutcome got = run(2, setting);
    EXPECT_LE(distance(with_uses(alone.gradients, one, setting), got.gradients), limit) << text(setting.dtype);
    EXPECT_LE(distance(alone.outputs, got.outputs), limit) << text(setting.dtype);
  };
  const GradcheckResult result = gradcheck(f, inputs, {.max_elements = 0});
  EXPECT_LE(result.exact_error, result.exact_limit) << result;
  const CaseOutcome plain = run(1, {}), single = run(1, {.dtype = f32});
  expect_close(plain, {.dtype = dual, .after = InputUse::scaled}, 1e-12);
  expect_close(plain, {.behind_identity = true, .let_go = true}, 0);
  expect_close(plain, {.after = InputUse::scaled}, 1e-12);
  expect_close(plain, {.dtype = f32}, 1e-3);
  expect_close(single, {.dtype = f32, .after = InputUse::scaled}, 1e-5);
  if (plain.outputs.size() == 1) return;
  EXPECT_LT(distance(plain.gradients, sum_over_outputs(checked, one, plain)), 1e-12) << "from each output alone";
}

/// Random points from one seeded generator, so that a test always uses the same ones.
class BlockEdges : public testing::Test {
 protected:
  template <class F> void check(const std::string& name, const std::vector<Shape>& shapes, F&& f) {
    Tensors inputs;
    for (const Shape& shape : shapes) inputs.push_back(random.normal(shape, f64));
    expect_right_gradients(
        name, [&](const Tensors& in) { return Tensors{f(in)}; }, inputs);
  }
  /// An op of one tensor.
  template <class Op> void check_unary(const std::string& name, const Shape& shape, Op&& op) {
    check(name, {shape}, [&](const Tensors& in) { return op(in[0]); });
  }
  /// An op of two tensors.
  template <class Op> void check_binary(const std::string& name, const Shape& a, const Shape& b, Op&& op) {
    check(name, {a, b}, [&](const Tensors& in) { return op(in[0], in[1]); });
  }

  Random random{21};
};

}  // namespace retrace
