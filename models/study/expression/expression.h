// Expressions of one's own, "s = matmul(q, transpose(k)) / 2; softmax(s)": functions of named tensors, as text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/study/expression/expression_error.h>
#include <retrace/nn/module/module.h>

namespace retrace {

namespace expressions {
struct Program;
}

/// A function of named tensors. Copies share what was read.
class Expression {
 public:
  const std::string& text() const;
  /// The names of the tensors that it needs, in the order of their first use.
  const std::vector<std::string>& inputs() const;

  /// The value of the last part, in which whole results of ops go by the names that the expression gives them. Numbers
  /// and lists get the dtype of the first input that is not i64. Throws ExpressionError if an input is missing, is
  /// given twice or is not used, and for every error of an op, with its message and the place of its call.
  Tensor operator()(const std::vector<NamedTensor>& inputs) const;

 private:
  friend Expression parse_expression(std::string_view text);
  explicit Expression(std::shared_ptr<const expressions::Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const expressions::Program> program_;
};

/// Reads parts separated by ";", each a value or `name = value`; the last is the result. Values are
///   - the ops of ops.h (but custom_op) by name: softmax(x, axis=0), attention(q, k, v, heads=2, causal=true);
///   - + - * / of tensors and numbers, unary minus, numbers and parentheses;
///   - lists: reshape(x, [2, 3]); numbers in lists, where an op wants a tensor: x + [1, 2], embedding(w, [0, 2]);
///   - a part of a tensor, as in Python: x[0], x[:, 1:3], x[new_axis];
///   - one of several results: attention_with_weights(q, k, v).weights, split(x, [2, 2])[0]. Where one tensor is
///     wanted, named results stand for the first of them.
/// Every other name is an input. Throws ExpressionError, with the place and the nearest right word, for anything else.
Expression parse_expression(std::string_view text);

}  // namespace retrace
