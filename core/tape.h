// The tape: a flat list of what was computed, walked backwards to give gradients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <new>
#include <string_view>
#include <type_traits>
#include <vector>

#include <retrace/core/record.h>

namespace retrace {

struct TapeOptions {
  bool keep = false;          // keep every value and gradient until the tape ends, for study
  bool expand_fused = false;  // record the composed twin of each fused op, so that its inside can be seen
  bool check_finite = false;  // throw at the first record, forward or backward, that is not finite; what a fused op
                              // hides inside shows with expand_fused
};

/// Tensors handed to record(): addresses in braces ({&a, &b}; null stands for "not needed" among the saved), or a list.
/// A place among them is a node, null for an undefined tensor.
class TensorRefs {
 public:
  struct Place {
    Place(const Tensor* x) : node(x == nullptr ? nullptr : x->node_or_null()) {}
    Node* node;
  };
  TensorRefs() = default;
// The braces live until the end of the call that they are an argument of, and no TensorRefs lives longer.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
  TensorRefs(std::initializer_list<Place> braces) : first_(&braces.begin()->node), count_(braces.size()) {}
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
  // A tensor is the address of its node and nothing else.
  TensorRefs(const Tensors& list) : first_(reinterpret_cast<Node* const*>(list.data())), count_(list.size()) {}
  std::size_t size() const { return count_; }
  Node* operator[](std::size_t i) const { return first_[i]; }

 private:
  static_assert(sizeof(Place) == sizeof(Node*) && sizeof(Tensor) == sizeof(Node*));
  Node* const* first_ = nullptr;
  std::size_t count_ = 0;
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
  /// nothing leads to, for one of another tape, and when called twice.
  void backward(const Tensor& loss);
  /// The same for d sum_j <cotangents[j], outputs[j]>. An undefined cotangent stands for an unused output.
  void backward(const Tensors& outputs, const Tensors& cotangents);

  const TapeOptions& options() const { return options_; }
  std::int64_t size() const { return size_; }
  /// First to last.
  std::vector<const Record*> records() const;
  /// The first record whose path of scopes and op ends with `path`: "softmax", "mha/softmax". Null if there is none.
  const Record* find(std::string_view path) const;
  bool closed() const { return closed_; }

  /// The tape that records now on this thread; null if none does.
  static Tape* current();

  /// What record() below does: a place for the attributes, or null where nothing is recorded. Throws TapeError for an
  /// input of another tape.
  static void* record(const OpInfo& op, BackwardFunction backward, TensorRefs inputs, TensorRefs outputs,
                      TensorRefs saved, std::size_t attribute_bytes, void (*destroy_attributes)(void*));

 private:
  friend class BackwardWalk;
  friend class NoTape;
  struct Chunk;

  bool wants(const OpInfo& op, TensorRefs inputs) const;
  [[noreturn]] static void throw_other_tape(const OpInfo& op, Node& input, std::size_t i);
  void attach(Record& record, TensorRefs inputs, TensorRefs outputs, TensorRefs saved) const;
  void* allocate(std::size_t bytes);
  const ScopeEntry* current_scope();
  void check_outputs_finite(const OpInfo& op, TensorRefs outputs) const;
  void release_record(Record& record);

  TapeOptions options_;
  bool closed_ = false;
  std::uint64_t serial_;
  Tape* outer_;
  Record* last_ = nullptr;
  std::int64_t size_ = 0;
  Chunk* chunk_ = nullptr;
  std::byte* chunk_next_ = nullptr;
  std::byte* chunk_end_ = nullptr;
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

/// Steps through the reverse pass, one record at a time:
///   for (BackwardWalk walk(tape, loss); walk.next();) std::cout << walk.record() << '\n';
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
  void start(const Tensors& outputs, const Tensors& cotangents);
  /// All records that are left, none of which anybody looks at after its backward.
  void run();
  static bool is_reached(const Record& record);
  void run_backward(Record& record, bool outputs_end_here) const;
  void put_cotangent(Node* node, const Tensor& cotangent);
  static void check_saved(const Record& record);
  static void check_gradients_finite(const Record& record);
  void finish(Record& record);

  Tape& tape_;
  Record* now_ = nullptr;
  Record* ahead_;
  Tensors lent_;  // cotangents that are gradients during the walk
};

/// Marks the ops of this block as those of a module, until the end of the block. `label` is what prints say where the
/// module's own name is not known.
class Scope {
 public:
  explicit Scope(const void* module, const char* label = "module");
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  friend class Tape;
  const void* module_;
  const char* label_;
  Scope* outer_;
  std::uint64_t tape_ = 0;  // the tape that holds entry_
  const ScopeEntry* entry_ = nullptr;
};

struct NoAttributes {};

/// Puts an op on the current tape, if there is one and an input wants a gradient: from then on the outputs do, too.
/// Only the values in `saved` can be read in backward; an op saves what its formula needs and no more.
template <class Attributes = NoAttributes>
void record(const OpInfo& op, BackwardFunction backward, TensorRefs inputs, TensorRefs outputs, TensorRefs saved = {},
            const Attributes& attributes = {}) {
  void (*destroy)(void*) = nullptr;
  if constexpr (!std::is_trivially_destructible_v<Attributes>)
    destroy = [](void* place) { static_cast<Attributes*>(place)->~Attributes(); };
  static_assert(alignof(Attributes) <= 16 && std::is_nothrow_copy_constructible_v<Attributes>);
  constexpr std::size_t bytes = std::is_empty_v<Attributes> ? 0 : sizeof(Attributes);
  void* place = Tape::record(op, backward, inputs, outputs, saved, bytes, destroy);
  if constexpr (bytes > 0)
    if (place != nullptr) new (place) Attributes(attributes);
}

/// Whether fused ops are to record their composed twins (TapeOptions::expand_fused of the current tape).
bool expand_fused();

/// A copy: y = x, dx = dy. The one op that core knows.
Tensor identity(const Tensor& x);

/// Every record: op, outputs <- inputs, formulas.
std::ostream& operator<<(std::ostream& out, const Tape& tape);

}  // namespace retrace
