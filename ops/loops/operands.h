// Rules for two operands a and b of one op, and what errors call them.
#pragma once

#include <string>
#include <utility>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// An operand and its name in errors.
struct NamedOperand {
  const Tensor* tensor;
  const char* role;
};
/// Throws ValueError, with the name, if one is undefined.
void check_defined(const char* function, std::initializer_list<NamedOperand> operands);
/// "w[2, 3]", or "a[2, 3]" for a tensor without a name that the op calls a.
std::string describe_operand(const char* role, const Tensor& x);
/// The shape that a and b broadcast to. Throws ShapeError.
Shape broadcast_operands(const char* function, const Tensor& a, const Tensor& b);
/// Throws DtypeError unless a and b have one dtype, or with_tangents can give them one.
void check_dtypes(const char* function, const Tensor& a, const Tensor& b, const char* role_a = "a",
                  const char* role_b = "b");
/// a and b in one dtype: f32 or f64 beside dual gets zero tangents (differentiable). Any other mixture throws
/// DtypeError. The conversion is recorded: whatever else may be refused is checked before.
std::pair<Tensor, Tensor> with_tangents(const char* function, const Tensor& a, const Tensor& b,
                                        const char* role_a = "a", const char* role_b = "b");
/// Where f32 or f64 meets dual among the defined of many operands, makes all of them dual and returns true. Throws
/// DtypeError for any other mixture; it calls the first operand `role`.
bool widen(const char* function, const char* role, std::initializer_list<Tensor*> operands);

/// An axis of x in [0, rank), from one in [-rank, rank). Throws ShapeError.
int axis_of(const char* function, const Tensor& x, int axis, const char* role = "x");
/// The place in [0, rank] of a new axis of x, from one in [-rank - 1, rank]. Throws ShapeError, also for a ninth axis.
int new_axis_of(const char* function, const Tensor& x, int axis, const char* role = "x");
/// Throws ShapeError if a result made of x would have more axes than a tensor can.
void check_rank(const char* function, const Tensor& x, int rank, const char* role = "x");

[[noreturn]] void throw_not_real(const char* function, const Tensor& x, const char* role);
/// Throws DtypeError if x is i64.
inline void check_real(const char* function, const Tensor& x, const char* role = "x") {
  if (x.dtype() == i64) [[unlikely]]
    throw_not_real(function, x, role);
}
/// Throws DtypeError unless x is i64, of which it says what they are: "indices".
void check_integers(const char* function, const Tensor& x, const char* role, const char* what);
/// Calls body(T{}) with the C++ type of the real numbers in x. i64 throws a DtypeError that names x.
template <class Body>
decltype(auto) dispatch_real(const Tensor& x, const char* role, const char* function, Body&& body) {
  check_real(function, x, role);
  return dispatch_real(x.dtype(), function, body);
}

/// Calls body(T{}) with the C++ type of the elements of x, if Op takes them.
template <class Op, class Body> decltype(auto) dispatch_for(const Tensor& x, const char* role, Body&& body) {
  if constexpr (requires { Op::integers; })
    return dispatch_any(x.dtype(), body);
  else
    return dispatch_real(x, role, Op::info.name, body);
}

/// Operands or results, some of which are optional.
struct GivenTensors {
  Tensors given;
  /// The place of x among them; -1 if it is not given.
  int add(const Tensor& x) {
    if (!x.defined()) return -1;
    given.push_back(x);
    return static_cast<int>(given.size()) - 1;
  }
};
/// The values of an optional operand; null if it is not given.
template <class T> const T* values_or_null(const Tensor& x) { return x.defined() ? x.values<T>().data() : nullptr; }

/// Throws DtypeError unless a mask is i64, with the remedy for one of its kind.
void check_mask(const char* function, const char* role, const Tensor& mask, const char* kind = "mask");

}  // namespace retrace
