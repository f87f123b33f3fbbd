// Makes an op of an expression from its signature and a function: the types of the function's parameters say what an
// argument may be, the signature gives names and defaults. For op_table.cpp.
#pragma once

#include <charconv>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <retrace/models/study/expression/op_table.h>

namespace retrace::expressions {

inline Value value_of(const Tensor& y) { return {y}; }
inline Value value_of(const Tensors& parts) { return {Parts{parts}}; }
inline Value value_of(const AttentionResult& result) {
  return {Results{{{"y", result.y}, {"weights", result.weights}}}};
}
inline Value value_of(const SortResult& result) {
  return {Results{{{"values", result.values}, {"indices", result.indices}}}};
}
inline Value value_of(const LstmStep& step) { return {Results{{{"h", step.h}, {"c", step.c}}}}; }
inline Value value_of(const LstmSequence& all) { return {Results{{{"y", all.y}, {"h", all.h}, {"c", all.c}}}}; }
inline Value value_of(const RnnSequence& all) { return {Results{{{"y", all.y}, {"h", all.h}}}}; }
inline Value value_of(const GatedMemoryResult& result) {
  Results results{{{"memory", result.memory}, {"input_gate", result.input_gate}}};
  if (result.forget_gate.defined()) results.members.emplace_back("forget_gate", result.forget_gate);
  return {results};
}

/// The value that a signature gives a parameter: `none`, a number or a word.
inline Value default_value(std::string_view written) {
  if (written == "none") return {};
  double number = 0;
  const auto [rest, error] = std::from_chars(written.data(), written.data() + written.size(), number);
  if (rest == written.data() + written.size()) return {number};
  return {Word{written}};
}

/// Takes the next parameter, "axis=-1", from "axis=-1, mask=none)".
inline OpParameter next_parameter(std::string_view& rest) {
  const std::size_t end = rest.find_first_of(",)");
  const std::string_view written = rest.substr(0, end);
  rest = rest[end] == ',' ? rest.substr(end + 2) : std::string_view();
  const std::size_t equals = written.find('=');
  if (equals == written.npos) return {.name = written};
  return {
      .name = written.substr(0, equals), .otherwise = default_value(written.substr(equals + 1)), .is_required = false};
}

template <class Result, class... P>
ExpressionOp bound(std::string_view signature, std::type_identity<Result (*)(P...)>, auto function) {
  const std::size_t open = signature.find('(');
  ExpressionOp op{.name = signature.substr(0, open), .signature = signature, .parameters = {}, .call = {}};
  std::string_view rest = signature.substr(open + 1);
  const auto add = [&](std::span<const std::string_view> words) {
    op.parameters.push_back(next_parameter(rest));
    op.parameters.back().words = words;
  };
  (add(words_of<std::decay_t<P>>()), ...);
  op.call = [function](std::span<const Argument> given) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      const std::tuple<std::decay_t<P>...> arguments{given[I].template as<std::decay_t<P>>()...};
      return value_of(std::apply(function, arguments));
    }
    (std::index_sequence_for<P...>());
  };
  return op;
}

/// A function pointer or a lambda that captures nothing.
ExpressionOp op(std::string_view signature, auto function) {
  return bound(signature, std::type_identity<decltype(+function)>(), function);
}

}  // namespace retrace::expressions
