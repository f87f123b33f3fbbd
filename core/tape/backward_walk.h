// A backward pass that stops after every record, so that its numbers can be read.
#pragma once

#include <retrace/core/tape/leaf_gradients.h>
#include <retrace/core/tape/tape.h>

namespace retrace {

/// Steps through the reverse pass, one record at a time:
///   for (BackwardWalk walk(tape, loss); walk.next();) std::cout << walk.record() << '\n';
/// A walk that throws, or that is left before its end, leaves all gradients as they were before it.
class BackwardWalk {
 public:
  BackwardWalk(Tape& tape, const Tensor& loss);
  BackwardWalk(Tape& tape, const Tensors& outputs, const Tensors& cotangents);
  ~BackwardWalk();
  BackwardWalk(const BackwardWalk&) = delete;
  BackwardWalk& operator=(const BackwardWalk&) = delete;

  /// Runs the backward of the next record that anything flows back to. False when there is none left.
  bool next();
  /// The record that next() has just run; its gradients are there until the next call.
  const Record& record() const { return *now_; }

 private:
  friend class Tape;
  friend class TracedWalk;
  /// Goes to the next record that anything flows back to, without running its backward.
  bool advance();
  void start(const Tensors& outputs, const Tensors& cotangents);
  /// Runs all records that are left. Nobody looks at them after their backward, so that their gradients may be reused.
  void run();
  template <class RunRecord> void run_all(bool outputs_end_here, const RunRecord& run_record);
  static bool is_reached(const Record& record);
  void run_backward(Record& record, bool outputs_end_here) const;
  void run_inline(Record& record, bool outputs_end_here) const;
  void put_cotangent(const Tensor& output, const Tensor& cotangent);
  /// Runs a part of the walk; takes all gradients of the walk away if it throws.
  template <class Steps> void undoing_errors(Steps&& steps) {
    const WalkScope scope(leaf_gradients_);
    try {
      steps();
    } catch (...) {
      undo();
      throw;
    }
  }
  [[gnu::cold]] void undo();
  void return_lent();
  static void check_saved(const Record& record);
  static void check_gradients_finite(const Record& record);
  void finish(Record& record) const;

  Tape& tape_;
  Record* now_ = nullptr;
  Record* ahead_;
  LeafGradients leaf_gradients_;
  Tensors held_;  // outputs that no record holds
  Tensors lent_;  // cotangents that are gradients during the walk
};

}  // namespace retrace
