// The way back over a tape, record by record.
#include <retrace/core/tape/backward_walk.h>
#include <retrace/core/tape/observer.h>
#include <retrace/core/tape/passed_record.h>
#include <retrace/core/tape/tape_checks.h>
#include <retrace/core/tape/unvisited.h>
#include <retrace/core/tensor/finite_check.h>
#include <retrace/core/tensor/op_access.h>

#include <cmath>

namespace retrace {

// ---- the loop

template <class RunRecord>
[[gnu::always_inline]] inline void BackwardWalk::run_all(bool outputs_end_here, const RunRecord& run_record) {
  undoing_errors([&] {
    for (Record* record = ahead_; record != nullptr; ahead_ = record = record->previous_) {
      if (is_reached(*record)) run_record(*record);
      if (outputs_end_here) record->pass_by();
    }
  });
}

void BackwardWalk::run() {
  const bool outputs_end_here = !tape_.options_.keep;
  TapeObserver* observer = tape_.watched_ ? TapeObserver::current() : nullptr;
  if (observer == nullptr) return run_all(outputs_end_here, [=, this](Record& r) { run_inline(r, outputs_end_here); });
  run_all(outputs_end_here, [=, this](Record& r) {
    observer->walk_begins(r);
    run_backward(r, outputs_end_here);
    observer->walked(r);
  });
}

inline bool BackwardWalk::is_reached(const Record& record) {
  for (int j = 0; j < record.outputs_; ++j)
    if (node_of(record.nodes_[record.inputs_ + j])->gradient != nullptr) return true;
  return false;
}

[[gnu::always_inline]] inline void BackwardWalk::run_inline(Record& record, bool outputs_end_here) const {
  check_saved(record);
  record.outputs_end_here_ = outputs_end_here;
#ifndef NDEBUG
  const RequestOrder order(*record.op_);
#endif
  record.backward_(record);
  if (tape_.options_.check_finite) [[unlikely]]
    check_gradients_finite(record);
}

void BackwardWalk::run_backward(Record& record, bool outputs_end_here) const { run_inline(record, outputs_end_here); }

void Tape::backward(const Tensor& loss) {
  BackwardWalk walk(*this, loss);
  walk.run();
}

void Tape::backward(const Tensors& outputs, const Tensors& cotangents) {
  BackwardWalk walk(*this, outputs, cotangents);
  walk.run();
}

// ---- the same, step by step

bool BackwardWalk::next() {
  if (!advance()) return false;
  undoing_errors([&] { run_backward(*now_, false); });
  return true;
}

bool BackwardWalk::advance() {
  if (now_ != nullptr) finish(*now_);
  for (now_ = nullptr; ahead_ != nullptr && now_ == nullptr; ahead_ = ahead_->previous_) {
    if (is_reached(*ahead_))
      now_ = ahead_;
    else
      finish(*ahead_);
  }
  return now_ != nullptr;
}

[[gnu::always_inline]] inline void BackwardWalk::finish(Record& record) const {
  if (!tape_.options_.keep) record.pass_by();
}

// ---- the start and the end

BackwardWalk::BackwardWalk(Tape& tape, const Tensor& loss) : tape_(tape), ahead_(tape.last_) {
  check_defined("backward", loss, "the loss");
  if (loss.numel() != 1)
    throw TapeError(text("backward: ", loss, " has ", loss.numel(),
                         " elements, and a loss has one; reduce it with sum() or mean(), or give a cotangent"));
  Tensors cotangents;
  if (loss.dtype() != i64) cotangents.push_back(ones_like(loss));
  if (std::isnan(number_at(loss, 0))) [[unlikely]]
    leaf_gradients_.are_of_nan();
  start({loss}, cotangents);
}

BackwardWalk::BackwardWalk(Tape& tape, const Tensors& outputs, const Tensors& cotangents)
    : tape_(tape), ahead_(tape.last_) {
  start(outputs, cotangents);
}

void BackwardWalk::start(const Tensors& outputs, const Tensors& cotangents) {
  if (tape_.closed_)
    throw TapeError(
        "backward: this tape was walked already, and gave its saved values back; record again on a new tape");
  bool reaches = false;
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    if (!outputs[j].defined()) throw_undefined("backward", text("output ", j));
    const Node& node = OpAccess::node(outputs[j]);
    if (node.wants_gradient && node.tape != 0 && node.tape != tape_.serial_)
      throw TapeError(text("backward: ", describe_at("output", j, outputs[j]),
                           " was recorded on another tape; call backward on that one"));
    reaches = reaches || node.wants_gradient;
  }
  if (!reaches)
    throw TapeError(text("backward: nothing leads from ", outputs.empty() ? Tensor() : outputs[0],
                         " to a tensor that wants a gradient; make one a parameter or watch() it, before the ops, and "
                         "compute inside the tape's scope"));
  if (outputs.size() != cotangents.size())
    throw TapeError(text("backward: ", outputs.size(), " outputs and ", cotangents.size(),
                         " cotangents; give one for each (an undefined tensor for an unused output)"));
  for (std::size_t j = 0; j < outputs.size(); ++j) {
    if (!cotangents[j].defined()) continue;
    if (cotangents[j].shape() != outputs[j].shape())
      throw ShapeError(text("backward: the cotangent ", cotangents[j].shape(), " of output ", outputs[j],
                            " has another shape; they must be the same"));
    if (cotangents[j].dtype() != outputs[j].dtype())
      throw DtypeError(text("backward: the cotangent of output ", outputs[j], " is ", cotangents[j].dtype(), ", not ",
                            outputs[j].dtype(), "; convert it with to()"));
  }
  tape_.closed_ = true;
  look_for_unvisited_now_and_then(tape_.last_);
  undoing_errors([&] {
    for (std::size_t j = 0; j < outputs.size(); ++j)
      if (cotangents[j].defined() && outputs[j].wants_gradient()) put_cotangent(outputs[j], cotangents[j]);
  });
}

// A large cotangent is read where it is, if nobody but the caller's list holds the output: a copy would cost as much as
// many ops. The walk passes it on to no other node.
void BackwardWalk::put_cotangent(const Tensor& output, const Tensor& cotangent) {
  Node& node = OpAccess::node(output);
  const Node& given = OpAccess::node(cotangent);
  Storage* values = given.storage;
  const bool can_be_lent = node.handles() == 1 && node.gradient == nullptr && given.elements == values->data() &&
                           values->is_private() && !values->lent;
  detail::take_gradient(&node, values, given.elements, can_be_lent);
  if (node.tape == 0) held_.push_back(output);
  if (!can_be_lent) return;
  values->lent = true;
  lent_.push_back(cotangent);
}

BackwardWalk::~BackwardWalk() {
  if (ahead_ != nullptr) undo();
  if (now_ != nullptr) finish(*now_);
  return_lent();
}

void BackwardWalk::return_lent() {
  for (const Tensor& cotangent : lent_) OpAccess::node(cotangent).storage->lent = false;
  lent_.clear();
  held_.clear();
}

void BackwardWalk::undo() {
  for (const Record* record = tape_.last_; record != nullptr; record = record->previous_)
    for (int j = 0; j < record->outputs_; ++j) release_gradient(node_of(record->nodes_[record->inputs_ + j]));
  if (now_ != nullptr) finish(*now_);
  for (now_ = nullptr; ahead_ != nullptr; ahead_ = ahead_->previous_) finish(*ahead_);
  leaf_gradients_.give_back();
  return_lent();
}

// ---- checks

namespace {

[[noreturn]] void throw_changed(const Record& record, const Node& saved) {
  const std::string name = saved.name == nullptr ? "" : *saved.name;
  throw TapeError(text("backward: record ", record.index(), " (", record.op().name, ") saved ", name, saved.shape,
                       ", and its values were changed since; change them after backward, or work on a clone()"));
}

}  // namespace

inline void BackwardWalk::check_saved(const Record& record) {
  for (int k = 0; k < record.saved_; ++k) {
    const SavedValue& value = record.saved(k);
    if (value && value.storage_->version != value.version_) [[unlikely]]
      throw_changed(record, *node_of(value.info_));
  }
}

void BackwardWalk::check_gradients_finite(const Record& record) {
  for (int i = 0; i < record.inputs_; ++i) {
    const Node& node = OpAccess::node(record.in(i));
    if (node.gradient == nullptr) continue;
    const std::int64_t position = find_nonfinite(node.gradient->data(), node.numel(), node.dtype);
    if (position < 0) continue;
    const std::string path = path_of(record.scope());
    throw TapeError(text("backward: the gradient of ",
                         describe_at("input", static_cast<std::size_t>(i), record.input(i)), " of record ",
                         record.index_, " (", path, path.empty() ? "" : "/", record.op_->name, ") is ",
                         element_text(node.gradient->data(), node.shape, node.dtype, position),
                         " (check_finite is on); look at its inputs and at the gradient of its output, which "
                         "Tape({.keep = true}) holds"));
  }
}

}  // namespace retrace
