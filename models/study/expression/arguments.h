// The arguments of a call in an expression, and what an op makes of them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <retrace/models/study/expression/value.h>
#include <retrace/ops/ops.h>

namespace retrace::expressions {

struct OpParameter {
  std::string_view name;
  Value otherwise = {};                       // if it is not given
  bool is_required = true;                    // it has to be
  bool is_whole = false;                      // a list of numbers in place of its tensor is i64
  std::span<const std::string_view> words{};  // that it takes instead of the names of tensors
};

/// A kind of parameter beside those of ops.h.
using NumberOrTensor = std::variant<double, Tensor>;

/// The words that a parameter of type T takes.
template <class T> std::span<const std::string_view> words_of() { return {}; }
template <> std::span<const std::string_view> words_of<bool>();
template <> std::span<const std::string_view> words_of<Activation>();
template <> std::span<const std::string_view> words_of<Reduction>();
template <> std::span<const std::string_view> words_of<PackedLayout>();
template <> std::span<const std::string_view> words_of<RotaryPairs>();
template <> std::span<const std::string_view> words_of<CausalCorner>();
template <> std::span<const std::string_view> words_of<GruReset>();
template <> std::span<const std::string_view> words_of<Dtype>();
template <> std::span<const std::string_view> words_of<std::vector<SliceIndex>>();

/// The value of one parameter. Every as() throws ValueError if it is of another kind: "softmax: axis is a whole number,
/// not the list [0, 1]"; if a list is ragged, ShapeError.
class Argument {
 public:
  Argument(std::string_view op, const OpParameter& parameter, const Value& value, Dtype constants)
      : op_(op), parameter_(parameter), value_(value), constants_(constants) {}

  template <class T> T as() const {
    T result{};
    take(result);
    return result;
  }

 private:
  void take(Tensor& result) const;
  void take(NumberOrTensor& result) const;
  void take(Tensors& result) const;
  void take(double& result) const;
  void take(std::int64_t& result) const;
  void take(int& result) const;
  void take(bool& result) const;
  void take(std::optional<double>& result) const;
  void take(std::optional<std::int64_t>& result) const;
  void take(Axes& result) const;
  void take(Shape& result) const;
  void take(std::string_view& result) const;
  void take(std::vector<int>& result) const;
  void take(std::vector<std::int64_t>& result) const;
  void take(std::vector<Padding>& result) const;
  void take(std::vector<SliceIndex>& result) const;
  void take(Activation& result) const;
  void take(Reduction& result) const;
  void take(PackedLayout& result) const;
  void take(RotaryPairs& result) const;
  void take(CausalCorner& result) const;
  void take(GruReset& result) const;
  void take(Dtype& result) const;

  bool is_none() const { return std::holds_alternative<None>(value_.is); }
  Tensor tensor_from(const Value& value, Dtype dtype) const;
  std::int64_t whole(const Value& value) const;
  std::vector<std::int64_t> whole_numbers(const Value& value) const;
  SliceIndex slice_index(const Value& value) const;
  std::size_t word() const;
  [[noreturn]] void refuse(std::string_view kind, const Value& value) const;

  std::string_view op_;
  const OpParameter& parameter_;
  const Value& value_;
  Dtype constants_;
};

}  // namespace retrace::expressions
