// The error of an op whose operands have different dtypes.
#pragma once

#include <string>
#include <utility>

#include <retrace/core/base/error.h>
#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Operands of different dtypes, with these: whoever knows more of them can say which is to blame.
class DtypeMismatch : public DtypeError {
 public:
  DtypeMismatch(const std::string& message, Tensor a, Tensor b)
      : DtypeError(message), operands_{std::move(a), std::move(b)} {}
  const std::pair<Tensor, Tensor>& operands() const { return operands_; }

 private:
  std::pair<Tensor, Tensor> operands_;
};

}  // namespace retrace
