#include <retrace/core/tensor/dtype.h>

#include <ostream>

namespace retrace {
namespace {
thread_local Dtype current_default = f32;
}

const char* name_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f32:
      return "f32";
    case Dtype::f64:
      return "f64";
    case Dtype::i64:
      return "i64";
    case Dtype::dual:
      break;
  }
  return "dual";
}

std::ostream& operator<<(std::ostream& out, Dtype dtype) { return out << name_of(dtype); }

Dtype default_dtype() { return current_default; }

DtypeScope::DtypeScope(Dtype dtype) : outer_(current_default) {
  if (dtype == i64) throw DtypeError("DtypeScope: i64 cannot be the default; use f32, f64 or dual");
  current_default = dtype;
}

DtypeScope::~DtypeScope() { current_default = outer_; }

void throw_not_real(Dtype dtype, const char* function) {
  throw DtypeError(
      text(function, ": needs real numbers (f32, f64), but the dtype is ", dtype, "; convert with to(f32) or to(f64)"));
}

}  // namespace retrace
