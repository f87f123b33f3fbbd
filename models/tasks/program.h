// Short random programs in characters, and their values.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <retrace/core/tensor/memory.h>
#include <retrace/core/tensor/random.h>

namespace retrace {

/// Characters from the pool: drawing a batch does not allocate from the heap.
using Characters = std::vector<char, PoolAllocator<char>>;

/// The value of an op for its operands a, b, c, d, and its spelling: # is an operand, ? is < or >, @ is a digit from 1.
enum class ProgramOp { sum, difference, product, condition, loop };
std::string_view pattern_of(ProgramOp op);

/// The maximum number of characters of a program of nested ops on numbers of `length` digits.
std::int64_t longest_program(std::span<const ProgramOp> ops, std::int64_t length, std::int64_t nesting);

/// Values are exact: no program within the limits of the task exceeds 37 digits.
using ProgramValue = __int128;
/// The remainder of a division by a positive modulus that is never negative, as Python's %.
std::int64_t floor_mod(ProgramValue value, std::int64_t modulus);

/// `nesting` ops, each on numbers of exactly `length` digits (the first not 0) and, from the second on, the op before
/// it in parentheses in place of the first of them.
class Program {
 public:
  void draw(Random& random, std::span<const ProgramOp> ops, std::int64_t length, std::int64_t nesting);
  std::string_view code() const { return {code_.data(), code_.size()}; }
  ProgramValue value() const { return value_; }

 private:
  void wrap_in(Random& random, ProgramOp op, std::int64_t length, bool is_first);

  Characters code_, inner_;
  ProgramValue value_ = 0;
};

}  // namespace retrace
