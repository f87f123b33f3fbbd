// The tape: a flat list of what was computed, walked backwards to give gradients.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/tape/arena.h>
#include <retrace/core/tape/record.h>

namespace retrace {

/// Options of a tape.
struct TapeOptions {
  bool keep = false;          // keep every value and gradient until the tape ends, for study
  bool expand_fused = false;  // record the composed twin of each fused op, so that its inside can be seen
  bool check_finite = false;  // throw at the first record, forward or backward, that is not finite; what a fused op
                              // hides inside shows with expand_fused
};

/// While a tape is in scope, ops of this thread that touch something that wants a gradient are recorded on it; without
/// one nothing is. Tapes nest, and the innermost records.
///
///   Tape tape;
///   Tensor loss = mean(square(matmul(x, w) - y));
///   tape.backward(loss);          // w.grad() is there
class Tape {
 public:
  explicit Tape(TapeOptions options = {});
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Leaves d loss / d x in x.grad() of every parameter, watched leaf and held intermediate that loss depends on. The
  /// loss has one element. Closes the tape: what follows in its scope is not recorded. Throws TapeError for a loss that
  /// nothing leads to, for one of another tape, and when called twice. A loss that is NaN is walked back, too, but an
  /// optimiser's step() then refuses the gradients, even if they are finite.
  void backward(const Tensor& loss);
  /// As for the loss sum_j <cotangents[j], outputs[j]>. An undefined cotangent stands for an unused output.
  void backward(const Tensors& outputs, const Tensors& cotangents);

  /// The options that the tape was made with.
  const TapeOptions& options() const { return options_; }
  std::int64_t size() const { return size_; }
  /// First to last.
  std::vector<const Record*> records() const;
  /// The first record whose path of scopes and op ends with `path`: "softmax", "mha/softmax". Null if there is none.
  const Record* find(std::string_view path) const;
  bool closed() const { return closed_; }

  /// The tape that records now on this thread; null if none does.
  static Tape* current();

 private:
  friend class BackwardWalk;
  friend class NoTape;
  friend class detail::Recorder;
  struct KeptNode {  // a saved value that is neither input nor output of its record
    TensorInfo* node;
    KeptNode* next;
  };
  void release_record(Record& record);

  TapeOptions options_;
  bool closed_ = false;
  bool watched_;  // by a reader, since values are kept, or by a TapeObserver
  std::uint64_t serial_;
  Tape* outer_;
  Record* last_ = nullptr;
  std::int64_t size_ = 0;
  KeptNode* kept_ = nullptr;
  detail::Arena arena_;
  static thread_local constinit Tape* innermost_;
};

/// Suspends recording on this thread until the end of the block.
class NoTape {
 public:
  NoTape();
  ~NoTape();
  NoTape(const NoTape&) = delete;
  NoTape& operator=(const NoTape&) = delete;

 private:
  Tape* suspended_;
};

/// Every record: op, outputs <- inputs, formulas.
std::ostream& operator<<(std::ostream& out, const Tape& tape);

}  // namespace retrace
