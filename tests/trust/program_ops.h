// The ops that random programs are made of: how an op is called, and the same by naive loops.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/ops/ops.h>
#include <retrace/tests/trust/naive.h>

namespace retrace {

/// Where a program's choices come from: bytes, and zeros after the last of them.
class Choices {
 public:
  explicit Choices(std::string_view bytes) : bytes_(bytes) {}
  /// 0 to n - 1.
  std::int64_t below(std::int64_t n) {
    const std::int64_t byte = at_ < bytes_.size() ? static_cast<unsigned char>(bytes_[at_]) : 0;
    ++at_;
    return byte % n;
  }
  std::size_t taken() const { return at_; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
};

/// The whole numbers of a call: axes, extents, flags.
using Numbers = std::vector<std::int64_t>;

/// An op of random programs.
struct ProgramOp {
  std::string_view name;
  /// Chooses the numbers of a call whose first operand has this shape, and returns the shapes of the other operands;
  /// nothing if it takes no such operand.
  std::function<std::optional<std::vector<naive::Extents>>(const naive::Extents& x, Choices& choices, Numbers& n)> fit;
  std::function<Tensors(const Tensors& in, const Numbers& n)> run;
  std::function<naive::Arrays(const naive::Arrays& in, const Numbers& n)> naive;
  bool differentiable = true;
};

std::vector<ProgramOp> elementwise_program_ops();
std::vector<ProgramOp> row_program_ops();
std::vector<ProgramOp> shape_program_ops();
std::vector<ProgramOp> layer_program_ops();
/// All of them.
const std::vector<ProgramOp>& program_ops();

}  // namespace retrace
