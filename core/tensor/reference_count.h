// How nodes and storages are counted: plainly by the thread that made them, atomically by every other.
//
// A locked instruction takes a fifth of the time of an op on four numbers, and most tensors never leave their thread.
// So a count has two parts: that of its owner, the thread that made the object, which it changes by plain instructions,
// and that of all other threads, which they change by atomic ones. The references are the sum of both. Either part may
// be negative: a handle that the owner made may be dropped by another thread, and the other way round.
//
// - Until another thread touches the count, which marks it as shared, it is that of a single thread.
// - The owner of a shared count whose own part falls to zero adds that to the others' part and gives the count up: from
//   then on all threads change it atomically, and the last one frees the object.
// - If the others' part falls below zero, nobody but the owner can tell whether references are left. The object goes
//   into its owner's list, and is given up when that thread next asks the pool for memory; or at once, if it has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace retrace::detail {

class ReferenceCount;

/// A thread as the owner of counts. Never destroyed: when a thread ends, another may take its place, and becomes the
/// owner of what the first one has left.
struct CountingThread {
  std::mutex mutex;  // of the following
  bool runs = false;
  std::atomic<ReferenceCount*> returned{nullptr};  // objects whose other part fell below zero
  CountingThread* next = nullptr;                  // in the list of places that are free
};

/// Null until this thread makes its first tensor or block.
extern thread_local constinit CountingThread* this_thread;
/// Gives this thread a place, until it ends.
void begin_counting();
/// Gives up what other threads returned to this one.
void take_back_returned();
/// The memory of a thread that ends goes to the others (node.cpp, as all that treats nodes and storages differently).
void hand_over_all();

/// The references to an object: handles, and references of tapes, which keep a node but not its values.
class ReferenceCount {
 public:
  using Number = std::int64_t;
  static constexpr Number handle = 4;
  static constexpr Number tape_reference = Number{1} << 32;

  enum class Counted : std::uint8_t { node, storage };

  ReferenceCount(const ReferenceCount&) = delete;
  ReferenceCount& operator=(const ReferenceCount&) = delete;

  /// Whether this thread owns the count, and no other has touched it.
  bool is_private() const { return owner_.load(std::memory_order_relaxed) == reinterpret_cast<Owner>(this_thread); }
  [[gnu::always_inline]] void add(Number number) {
    if (is_private()) [[likely]]
      own_ += number;
    else
      add_shared(number);
  }
  /// Whether that was the last reference, and the object is the caller's to free.
  [[gnu::always_inline]] bool remove(Number number) {
    if (is_private()) [[likely]]
      return (own_ -= number) == 0;
    remove_shared(number);
    return false;
  }
  /// As remove(), for a count that is not private; frees the object itself.
  void remove_shared(Number number);
  /// Takes a handle off a private count; whether it was the last one.
  bool remove_private_handle() { return static_cast<std::int32_t>(own_ -= handle) == 0; }
  /// Whether a tape has references to a private count.
  bool has_tape_references() const { return own_ >= tape_reference; }

  /// The handles, if only this thread can change their number; otherwise more than there can be.
  std::int32_t handles() const {
    return is_private() ? static_cast<std::int32_t>(own_) / static_cast<std::int32_t>(handle) : 1 << 30;
  }
  /// Whether there is surely one handle and nothing else.
  bool is_only_handle() const { return is_private() && own_ == handle; }
  /// Whether there is surely no handle.
  bool has_no_handle() const { return is_private() && static_cast<std::int32_t>(own_) == 0; }

 protected:
  /// With one handle, of this thread.
  explicit ReferenceCount(Counted counted) : owner_(reinterpret_cast<Owner>(this_thread)), counted_(counted) {}
  ~ReferenceCount() = default;
  /// An object that is used again; others_ is zero.
  void restart() {
    owner_.store(reinterpret_cast<Owner>(this_thread), std::memory_order_relaxed);
    own_ = handle;
  }

 private:
  friend void take_back_returned();
  using Owner = std::uintptr_t;  // its address, or that of no thread, with a mark
  static constexpr Owner shared = 1;
  static constexpr Number given_up = 1, returned = 2, flags = 3;  // lie below the handles in others_

  bool is_own() const;
  void add_shared(Number number);
  bool remove_elsewhere(Number number);
  bool give_up_but(Number number);
  bool give_up_returned();
  bool return_to_owner();
  ReferenceCount*& next_returned();
  void free_by_owner();
  void free_for_all();

  std::atomic<Owner> owner_;
  Number own_ = handle;
  std::atomic<Number> others_{0};
  Counted counted_;
};

}  // namespace retrace::detail
