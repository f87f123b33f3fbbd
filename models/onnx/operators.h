// How each op is said in operators of ONNX.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/onnx/call.h>

namespace retrace::onnx {

/// Builds the operators of a call and names its results. Throws ValueError, with the reason, for an op that ONNX cannot
/// say.
void build(const Call& call);

/// A row of the table: an op, how it is built, and the operators in words.
struct Operator {
  std::string_view op;
  void (*build)(const Call& call);
  std::string_view operators;
};
/// One table for each file.
std::vector<Operator> elementwise_operators();
std::vector<Operator> shape_operators();
std::vector<Operator> reduction_operators();
std::vector<Operator> attention_operators();
std::vector<Operator> recurrent_operators();
/// All of them, by name.
const std::vector<Operator>& operators();

// Shared by them.

/// A number of the call's dtype.
std::string number(const Call& call, double value);
std::string exchange_last_axes(Builder& build, const std::string& x, int rank);
/// x[start:stop] along an axis.
std::string slice_axis(Builder& build, const std::string& x, std::int64_t axis, const Lengths& start,
                       const Lengths& stop);
/// `parts` equal parts of a fixed axis.
std::vector<std::string> split(Builder& build, const std::string& x, std::int64_t axis, std::size_t parts);
std::string unsqueeze(Builder& build, const std::string& x, std::int64_t axis);
/// Those of the activation of that name; x for "none".
std::string activation(Builder& build, std::string_view name, const std::string& x, Dtype dtype);

}  // namespace retrace::onnx
