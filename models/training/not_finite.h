// Finds the place of a computation at which numbers stop being finite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/tape/names.h>

namespace retrace {

/// A number of a record of a tape that is NaN or infinite.
struct NotFinite {
  std::int64_t record = 0;
  std::string op;
  std::string path;                      // of the scopes around it; empty outside of all modules
  std::string role;                      // "its output", "its input weight", "the gradient of its input x"
  std::string tensor;                    // its name: a path of the model, "x", or "%3" for the output of record 3
  Shape shape = {};                      // of the tensor
  std::vector<std::int64_t> index = {};  // of the number
  double value = 0;
  std::string came_from;  // what the record computed it from, in words; empty for an input
};

/// Runs the backward of `loss`, unless the forward already has the number, and returns the first number that is not
/// finite: of the inputs and outputs of the records in the order of the forward, then of gradients in the order of the
/// backward. An infinity that a mask hides (-inf where an input or an attribute of the record is -inf) does not count.
/// The tape has to be made with TapeOptions::keep.
std::optional<NotFinite> first_not_finite(Tape& tape, const Tensor& loss, const Names& names);

/// "record 17, exp in core/mlp, is the first: its output %17 [8, 4] is inf at [3, 1], from x = %16, which reaches from
/// -3 to 105".
std::string to_text(const NotFinite& found);

}  // namespace retrace
