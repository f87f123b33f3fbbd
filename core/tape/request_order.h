// Checks of the order in which a backward asks its record for values and places. Debug builds (without NDEBUG) run
// them.
#pragma once

namespace retrace {

struct OpInfo;
class SavedValue;
class TensorInfo;

/// The requests of the backward that runs on this thread, until its end. (A library without these checks makes none of
/// these, and a program that has them then notes nothing.)
class RequestOrder {
 public:
  explicit RequestOrder(const OpInfo& op);
  ~RequestOrder();
  RequestOrder(const RequestOrder&) = delete;
  RequestOrder& operator=(const RequestOrder&) = delete;

  /// tensor_over_saved(k) gave away the buffer of this value, or would have given it away on another tape.
  static void note_given_away(int k, const SavedValue& value);
  /// Throws TapeError if it did.
  static void check_readable(const SavedValue& value);
  /// The gradient of input i begins in a new buffer, which the backward is to write before it asks for more.
  static void note_begun(int i, TensorInfo* input);
  /// Throws TapeError if input i is a tensor the gradient of which has begun, but is not written yet.
  static void check_written(int i, TensorInfo* input);
};

}  // namespace retrace
