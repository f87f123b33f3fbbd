// A table of invalid calls and the exact error that each throws.
#pragma once

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include <retrace/core/core.h>
#include <retrace/models/checks/case_run.h>
#include <retrace/ops/ops.h>
#include <retrace/tests/errors.h>
#include <retrace/tests/internals/version.h>

namespace retrace {

/// The operands of the calls. Those of real numbers want gradients and have one already, so that a call that changes or
/// records anything is detected.
struct ErrorOperands {
  Tensor number = real({}), vector = real({3}), four = real({4}), matrix = real({2, 3}), square = real({3, 3});
  Tensor cube = real({2, 2, 3}), batch = real({3, 3, 3}), table = real({5, 2}, "table");
  Tensor deep = real({1, 1, 1, 1, 1, 1, 1, 1}), weight = real({4, 2}, "w");
  Tensor single = real({2, 3}, "", f32), narrow = real({3}, "", f32);
  Tensor dual_four = real({4}, "", dual), dual_vector = real({3}, "", dual), dual_matrix = real({2, 3}, "", dual);
  Tensor hollow = zeros({2, 0}, f64), endless = full({2}, std::numeric_limits<double>::infinity(), f64), undefined;
  Tensor whole = indices({{1, 0, 2}, {2, 1, 0}});
  Tensor ids = indices({0, 1}), far = indices({1, 7}), negative = indices({0, -1}), flags = indices({1, 0, 1, 1});

  Tensors all() const {
    return {number, vector,    four,        matrix,      square, cube,    batch, table, deep, weight,   single,
            narrow, dual_four, dual_vector, dual_matrix, hollow, endless, whole, ids,   far,  negative, flags};
  }

 private:
  static Tensor real(const Shape& shape, std::string_view name = "", Dtype dtype = f64) {
    const Tensor x = parameter(full(shape, 0.5, dtype), name);
    Tape tape;
    tape.backward({identity(x)}, {full(shape, 0.25, dtype)});
    return x;
  }
};

enum class Mistake { shape, dtype, index, value };

struct ErrorRow {
  Mistake mistake;
  void (*call)(const ErrorOperands&);
  std::string message;
};

/// The values, gradients and versions of all operands.
inline std::vector<double> state_of(const ErrorOperands& operands) {
  std::vector<double> state;
  const NoTape nothing_is_recorded;
  for (const Tensor& x : operands.all()) {
    Numbers numbers = numbers_of(x);
    state.insert(state.end(), numbers.begin(), numbers.end());
    state.push_back(static_cast<double>(version_of(x)));
    state.push_back(x.wants_gradient() + 2.0 * x.has_grad());
    if (!x.has_grad()) continue;
    numbers = numbers_of(x.grad());
    state.insert(state.end(), numbers.begin(), numbers.end());
  }
  return state;
}

template <class Call> void expect_mistake(Mistake mistake, const Call& call, const std::string& message) {
  switch (mistake) {
    case Mistake::shape:
      return expect_error<ShapeError>(call, message);
    case Mistake::dtype:
      return expect_error<DtypeError>(call, message);
    case Mistake::index:
      return expect_error<IndexError>(call, message);
    case Mistake::value:
      return expect_error<ValueError>(call, message);
  }
}

/// Makes the call on a tape; it must throw, record nothing and leave every operand unchanged.
template <class Call> void expect_refused(Mistake mistake, const Call& call, const std::string& message) {
  const ErrorOperands operands;
  const std::vector<double> before = state_of(operands);
  Tape tape;
  expect_mistake(
      mistake, [&] { call(operands); }, message);
  EXPECT_EQ(tape.size(), 0) << "something was recorded before this was thrown: " << message;
  EXPECT_EQ(state_of(operands), before) << "an operand was changed before this was thrown: " << message;
}

inline void expect_refusals(const std::vector<ErrorRow>& rows) {
  for (const ErrorRow& row : rows) expect_refused(row.mistake, row.call, row.message);
}

}  // namespace retrace
