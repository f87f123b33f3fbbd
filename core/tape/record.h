// One step of a computation as the tape holds it, and what a backward function sees of it.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <retrace/core/tape/gradient.h>
#include <retrace/core/tape/op_info.h>
#include <retrace/core/tape/request_order.h>
#include <retrace/core/tape/scope.h>
#include <retrace/core/tensor/tensor.h>

namespace retrace {

class Tape;
class Record;
namespace detail {
class Recorder;
struct Storage;
}  // namespace detail
/// Turns the gradients of a record's outputs into contributions to those of its inputs. Has no captures: everything it
/// needs is in the record. For y = square(x), which saved x:
///
///   void backward(Record& r) {
///     const float* x = r.saved(0).values<float>();
///     const auto [dy, dx] = r.flow<float>(0);
///     dx.put(r.in(0).numel(), [=, dy = dy](std::int64_t k) { return 2 * x[k] * dy[k]; });  // x.grad += 2 x y.grad
///   }
///
/// Where those gradients live is told in gradient.h.
using BackwardFunction = void (*)(Record&);

/// A value that an op asked to keep until its backward.
class SavedValue {
 public:
  /// False for a value that was not needed, and when the walk has passed it: nothing else may then be asked of it.
  explicit operator bool() const { return storage_ != nullptr; }
  /// The tensor that it is the value of.
  const TensorInfo& info() const { return *info_; }
  const Shape& shape() const { return info_->shape; }
  Dtype dtype() const { return info_->dtype; }
  std::int64_t numel() const { return info_->numel(); }
  template <class T> const T* values() const {
#ifndef NDEBUG
    RequestOrder::check_readable(*this);
#endif
    return static_cast<const T*>(elements_);
  }
  /// A handle to the saved values, cut off the tape.
  Tensor tensor() const;

 private:
  friend class BackwardWalk;
  friend class Record;
  friend class detail::Recorder;
  SavedValue() = default;
  SavedValue(TensorInfo* info, detail::Storage* storage, void* elements, std::uint64_t version)
      : info_(info), storage_(storage), elements_(elements), version_(version) {}

  TensorInfo* info_ = nullptr;
  detail::Storage* storage_ = nullptr;
  void* elements_ = nullptr;
  std::uint64_t version_ = 0;  // of the storage, when it was saved
};

/// An op that was recorded: {op, inputs, outputs, saved values, attributes, scope, backward}. It lives in the tape's
/// arena. Inputs and outputs have shapes and gradients there, but values only while somebody holds them.
class Record {
 public:
  const OpInfo& op() const { return *op_; }
  /// The formulas of the op, with the attributes and sizes of this call: "y = a b^T" for a matmul that transposes b.
  Formulas formulas() const;
  /// The constants of this call by name: see OpInfo::attributes_of_call.
  std::vector<Attribute> attribute_list() const;
  /// The names of the inputs in the formulas, one per input: "x", "gamma"; "x0", "x1", ... of an op of any number.
  std::vector<std::string> input_names() const;
  /// Position on the tape, from 0.
  std::int64_t index() const { return index_; }
  /// The record before this one on the tape; null for the first.
  const Record* previous() const { return previous_; }
  const ScopeEntry* scope() const { return scope_; }
  int inputs() const { return inputs_; }
  int outputs() const { return outputs_; }
  int saved_values() const { return saved_; }

  /// Shape and dtype of input i, and of output j. Numbers count from 0 in the order of the call of record(), and are
  /// not checked.
  const TensorInfo& in(int i) const { return *nodes_[i]; }
  const TensorInfo& out(int j) const { return *nodes_[inputs_ + j]; }
  /// Value k of those that the op saved; false as a bool where it said that it was not needed.
  const SavedValue& saved(int k) const { return saved_list_[k]; }
  /// The attributes of the call, of the type that the op gave to record().
  template <class Attributes> const Attributes& attributes() const {
    return *static_cast<const Attributes*>(attributes_);
  }
  /// Handles, for study: their values are there if a user or a keeping tape held them.
  Tensor input(int i) const;
  Tensor output(int j) const;

  /// Whether input i wants a gradient: what is not wanted is not computed.
  bool wants(int i) const { return nodes_[i]->wants_gradient; }
  /// Whether anything flowed back to output j. The record of an op with one output is walked only if so.
  bool has_grad_out(int j) const;
  /// The gradient of output j: null if nothing flowed back to it. Throws TapeError if flow() gave its buffer away.
  template <class T> const T* grad_out(int j = 0) const { return static_cast<const T*>(gradient_of_output(j)); }

  /// The gradient of output j, and where to write that of input i, of as many elements. They may share a buffer: write
  /// dx[k] only after your last read of dy[k]. Make this the last request for output j.
  template <class T> Flow<T> flow(int i, int j = 0) {
    const FlowPlaces places = begin_flow(i, j);
    return {static_cast<const T*>(places.dy), slot<T>(places.dx)};
  }
  /// As flow(), to a tensor with the shape of output j instead of an input's gradient.
  template <class T> TensorFlow<T> flow_to_tensor(int j = 0) {
    const T* dy = grad_out<T>(j);
    return {dy, tensor_in_place(j)};
  }
  /// A result tensor with the shape of saved value k. Reuses the value's buffer if nothing else needs it: write element
  /// k after your last read of element k of the value. Make this the last request for that value; debug builds throw
  /// TapeError if a later one reads it.
  Tensor tensor_over_saved(int k);
  /// Where to write the gradient of input i, in a buffer of its own. From this call on that gradient counts as begun,
  /// so ask for an input just before writing it: two inputs that are one node (mul(x, x)) then never both believe to be
  /// first; debug builds then throw TapeError for a wrong order. Who writes only a part of it asks for one that is
  /// zeroed, and adds.
  template <class T> GradientSlot<T> grad_in(int i, Begin begin = Begin::fresh) {
#ifndef NDEBUG
    RequestOrder::check_written(i, nodes_[i]);
    if (begin == Begin::fresh) return slot<T>(begin_noted_gradient(i));
#endif
    return slot<T>(begin == Begin::zeroed ? begin_zeroed_gradient(i) : begin_gradient(i));
  }
  /// A whole tensor as a contribution to the gradient of input i. Throws ShapeError or DtypeError if it does not fit.
  void add(int i, const Tensor& contribution);
  /// The gradient of output j is, unchanged, a contribution to the gradient of input i, which has as many elements.
  void pass(int j, int i);

 private:
  friend class Tape;
  friend class BackwardWalk;
  friend class TracedWalk;
  friend class detail::Recorder;

  /// In place of saved values that may be written over before the backward reads them.
  [[gnu::cold]] void keep_copies();

  /// Where the gradient of an input goes, as GradientSlot.
  struct Begun {
    void* values;
    bool add;
  };
  /// The gradient of an output and where that of an input goes, as Flow.
  struct FlowPlaces {
    const void* dy;
    Begun dx;
  };
  template <class T> static GradientSlot<T> slot(const Begun& begun) {
    return {static_cast<T*>(begun.values), begun.add};
  }

  /// The walk has passed this record: lets go of what it saved, and of the gradients that nobody holds.
  void pass_by();

  // All of these are in gradient_buffers.cpp.
  const void* gradient_of_output(int j) const;
  [[noreturn]] void throw_given_away(int j) const;
  FlowPlaces begin_flow(int i, int j);
  FlowPlaces begin_flow_apart(int i, int j);
  Begun begin_gradient(int i);
  Begun begin_noted_gradient(int i);
  Begun begin_zeroed_gradient(int i);
  Tensor tensor_in_place(int j);

  const OpInfo* op_;
  BackwardFunction backward_;
  Record* previous_;
  const ScopeEntry* scope_;
  TensorInfo** nodes_;  // inputs, then outputs; in the arena, as are the following
  SavedValue* saved_list_;
  void* attributes_;
  void (*destroy_attributes_)(void*);
  std::int64_t index_;
  std::int32_t inputs_;
  std::int32_t outputs_;
  std::int32_t saved_;
  bool outputs_end_here_ = false;  // nobody can see this record between its backward and its release
  bool is_passed_ = false;
};

/// One line: index, op, outputs <- inputs, with gradients where they are held.
std::ostream& operator<<(std::ostream& out, const Record& record);

}  // namespace retrace
