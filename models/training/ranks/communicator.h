// The ranks of a training: processes that run the same program and compute one training together.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {

/// Bytes for another rank.
struct Sent {
  int to;
  std::span<const std::byte> bytes;
};
/// The place for bytes of another rank.
struct Received {
  int from;
  std::span<std::byte> bytes;
};

/// Moves bytes between ranks. Nothing is added up on the way, so results do not depend on who implements it
/// (models/mpi). Every message that is sent is received, and all ranks make the same broadcasts in the same order. On
/// one rank, calls may come from any thread, but never two at once.
class Communicator {
 public:
  Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  virtual ~Communicator() = default;

  /// The number of this rank, from 0, and of all.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// Sends and receives at the same time, and returns when all has arrived. What one rank sends to another is received
  /// in that order, in places of the same sizes.
  virtual void exchange(const std::vector<Sent>& sent, const std::vector<Received>& received) = 0;
  /// A rank whose bytes wait here to be received; none if none come within these seconds.
  virtual std::optional<int> caller(double seconds) = 0;
  /// Gives every rank the bytes that rank 0 has.
  virtual void broadcast(std::span<std::byte> bytes) = 0;
  /// Waits until every rank is here, but no longer than these seconds. Returns whether they all came. It does not mix
  /// with the other calls: a rank that fails can find out whether the others failed with it.
  virtual bool meet(double seconds) = 0;
  /// Ends every rank at once, with this exit status.
  [[noreturn]] virtual void end_all(int status) = 0;
};

/// Whether this is the rank that writes files: rank 0, or a program without ranks.
inline bool is_first(const Communicator* ranks) { return ranks == nullptr || ranks->rank() == 0; }

/// The value that rank 0 has; without ranks, this one.
template <class T>
requires std::is_trivially_copyable_v<T> T of_first(Communicator* ranks, T value) {
  if (ranks != nullptr) ranks->broadcast(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// Gives every rank the bytes, or the values of a tensor, that `owner` has.
void share_from(Communicator& ranks, int owner, std::span<std::byte> bytes);
void share_values(Communicator& ranks, int owner, const Tensor& x);
/// The tensor that `owner` has; the others need not have one, and get one of its shape and dtype.
Tensor tensor_from(Communicator& ranks, int owner, const Tensor& own);
/// The text of every rank, in their order.
std::vector<std::string> texts_of_ranks(Communicator& ranks, const std::string& own);
/// Throws ValueError on every rank, with the first differences, unless the settings "seed 1, batch 8" of all are the
/// same. `remedy` says what to do.
void check_same_settings(Communicator& ranks, const char* function, const std::string& settings, const char* remedy);

}  // namespace retrace
