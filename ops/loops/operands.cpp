#include <retrace/core/tensor/dtype_mismatch.h>
#include <retrace/ops/op.h>

namespace retrace {
namespace {

std::string name_or(const char* role, const Tensor& x) { return x.name().empty() ? role : std::string(x.name()); }

}  // namespace

void check_defined(const char* function, std::initializer_list<NamedOperand> operands) {
  for (const auto& [tensor, role] : operands) check_defined(function, *tensor, role);
}

std::string describe_operand(const char* role, const Tensor& x) { return text(name_or(role, x), x.shape()); }

Shape broadcast_operands(const char* function, const Tensor& a, const Tensor& b) {
  if (a.name().empty() && b.name().empty()) return broadcast_shapes(a.shape(), b.shape(), function);
  return broadcast_shapes(a.shape(), b.shape(), function, name_or("a", a).c_str(), name_or("b", b).c_str());
}

void check_dtypes(const char* function, const Tensor& a, const Tensor& b, const char* role_a, const char* role_b) {
  const bool real = a.dtype() != i64 && b.dtype() != i64, beside_dual = a.dtype() == dual || b.dtype() == dual;
  if (a.dtype() != b.dtype() && !(real && beside_dual))
    throw DtypeMismatch(text(function, ": ", describe_operand(role_a, a), " is ", a.dtype(), " and ",
                             describe_operand(role_b, b), " is ", b.dtype(), ": dtypes differ; convert one with to()"),
                        a, b);
}

std::pair<Tensor, Tensor> with_tangents(const char* function, const Tensor& a, const Tensor& b, const char* role_a,
                                        const char* role_b) {
  check_dtypes(function, a, b, role_a, role_b);
  if (a.dtype() == b.dtype()) return {a, b};
  return {to(a, dual), to(b, dual)};
}

bool widen(const char* function, const char* role, std::initializer_list<Tensor*> operands) {
  const Tensor& first = **operands.begin();
  bool mixed = false, beside_dual = false, real = true;
  const Tensor* other = nullptr;
  for (const Tensor* x : operands) {
    if (!x->defined()) continue;
    beside_dual = beside_dual || x->dtype() == dual;
    real = real && x->dtype() != i64;
    if (x->dtype() == first.dtype()) continue;
    mixed = true;
    if (other == nullptr) other = x;
  }
  if (!mixed) return false;
  if (!real || !beside_dual)
    throw DtypeMismatch(
        text(function, ": ", describe_operand(role, first), " is ", first.dtype(), " and ",
             describe_operand("an operand", *other), " is ", other->dtype(), ": dtypes differ; convert one with to()"),
        first, *other);
  for (Tensor* x : operands)
    if (x->defined()) *x = to(*x, dual);
  return true;
}

int axis_of(const char* function, const Tensor& x, int axis, const char* role) {
  const int rank = x.rank();
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  if (rank == 0)
    throw ShapeError(
        text(function, ": ", describe_operand(role, x), " is 0-d and has no axis ", axis, "; reshape it first"));
  throw ShapeError(text(function, ": ", describe_operand(role, x), " has no axis ", axis, "; axes run from ", -rank,
                        " to ", rank - 1));
}

int new_axis_of(const char* function, const Tensor& x, int axis, const char* role) {
  const int rank = x.rank();
  check_rank(function, x, rank + 1, role);
  if (axis < -rank - 1 || axis > rank)
    throw ShapeError(text(function, ": ", describe_operand(role, x), " cannot get a new axis at ", axis,
                          "; its place is ", -rank - 1, " to ", rank));
  return axis < 0 ? axis + rank + 1 : axis;
}

void check_rank(const char* function, const Tensor& x, int rank, const char* role) {
  if (rank > max_rank)
    throw ShapeError(text(function, ": ", describe_operand(role, x), " would get ", rank, " axes, more than the ",
                          max_rank, " that a tensor can have; reshape some of them together"));
}

void check_integers(const char* function, const Tensor& x, const char* role, const char* what) {
  if (x.dtype() != i64)
    throw DtypeError(text(function, ": ", describe_operand(role, x), " is ", x.dtype(), ", but ", what,
                          " are i64; make them with indices() or to(i64)"));
}

void throw_not_real(const char* function, const Tensor& x, const char* role) {
  throw DtypeError(text(function, ": needs real numbers (f32, f64), but ", describe_operand(role, x), " is ", x.dtype(),
                        "; convert it with to(f32) or to(f64)"));
}

void check_mask(const char* function, const char* role, const Tensor& mask, const char* kind) {
  if (mask.dtype() != i64)
    throw DtypeError(text(function, ": ", describe_operand(role, mask), " is ", mask.dtype(), ", but a ", kind,
                          " is i64, 0 or not; convert it with to(i64)"));
}

}  // namespace retrace
