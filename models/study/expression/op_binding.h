// Makes an op of an expression from its function and the text of its parameters in ops.def: the types of the function's
// parameters say what an argument may be, the text gives names and defaults. For op_table.cpp.
#pragma once

#include <algorithm>
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

/// Takes the next parameter, "axis=-1", from "axis=-1, mask=none"; "ids: i64" is a tensor of whole numbers.
inline void add_parameter(ExpressionOp& op, std::string_view& rest, std::span<const std::string_view> words) {
  const std::string_view written = rest.substr(0, rest.find(", "));
  rest.remove_prefix(std::min(rest.size(), written.size() + 2));
  const std::size_t equals = std::min(written.find('='), written.size()), end = written.find_first_of("=:");
  OpParameter parameter{.name = written.substr(0, end), .words = words};
  parameter.is_whole = written.substr(0, equals).ends_with(": i64");
  parameter.is_required = equals == written.size();
  if (!parameter.is_required) parameter.otherwise = default_value(written.substr(equals + 1));
  op.signature += text(op.signature.empty() ? "" : ", ", parameter.name, written.substr(equals));
  op.parameters.push_back(parameter);
}

/// Pointers to the members of a struct of options, each of which is a parameter.
template <class T> inline constexpr std::nullptr_t members_of = nullptr;
template <class T>
concept Options = !std::is_null_pointer_v<std::remove_const_t<decltype(members_of<T>)>>;

/// What an argument is kept as until a parameter of type P gets it.
template <class P> struct KeptFor { using type = std::decay_t<P>; };
template <class T> struct KeptFor<std::span<const T>> { using type = std::vector<T>; };
template <class P> using Kept = typename KeptFor<P>::type;

template <class T> void add_parameters(ExpressionOp& op, std::string_view& rest) {
  if constexpr (Options<T>)
    std::apply([&]<class... M>(M T::*...) { (add_parameters<M>(op, rest), ...); }, members_of<T>);
  else
    add_parameter(op, rest, words_of<T>());
}

/// Takes the first of the arguments, or as many as T has members.
template <class T> T next_argument(std::span<const Argument>& given) {
  T result{};
  if constexpr (Options<T>) {
    std::apply([&]<class... M>(M T::*... member) { ((result.*member = next_argument<M>(given)), ...); }, members_of<T>);
  } else {
    result = given.front().as<T>();
    given = given.subspan(1);
  }
  return result;
}

template <class Result, class... P>
ExpressionOp bound(std::string_view name, std::string_view parameters, Result (*function)(P...)) {
  ExpressionOp op{.name = name, .signature = {}, .parameters = {}, .call = {}};
  (add_parameters<Kept<P>>(op, parameters), ...);
  op.signature = text(name, "(", op.signature, ")");
  op.call = [function](std::span<const Argument> given) {
    const std::tuple<Kept<P>...> arguments{next_argument<Kept<P>>(given)...};
    return value_of(std::apply(function, arguments));
  };
  return op;
}
template <class Result, class... P>
ExpressionOp op(std::string_view name, std::string_view parameters, Result (*function)(P...)) {
  return bound(name, parameters, function);
}
/// Of an op that numbers have, too, the overload for tensors.
template <class Result, class... P>
ExpressionOp op(std::string_view name, std::string_view parameters, Result (*function)(const Tensor&, P...)) {
  return bound(name, parameters, function);
}

}  // namespace retrace::expressions
