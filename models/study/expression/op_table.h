// The ops that an expression can call: those of ops.h, by name.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/study/expression/arguments.h>

namespace retrace::expressions {

struct ExpressionOp {
  std::string_view name;
  std::string signature;  // "softmax(x, axis=-1, mask=none)"
  std::vector<OpParameter> parameters;
  std::function<Value(std::span<const Argument>)> call;  // with one argument per parameter
};

/// The op of that name; null if there is none.
const ExpressionOp* find_op(std::string_view name);
/// In the order of ops.def.
std::span<const std::string_view> op_names();

}  // namespace retrace::expressions
