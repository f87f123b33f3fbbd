// The ranks of a program that mpirun started.
#pragma once

#include <memory>

#include <retrace/models/training/ranks/communicator.h>

namespace retrace {

/// All processes of the program. MPI is started with the first of these objects, if the program has not done it by
/// itself, and ended with it. Any implementation of MPI will do: bytes are sent, received
/// and waited for, and the sums are the library's own. Throws ValueError if MPI runs without support for threads.
///
///   MpiRanks ranks;
///   fit(*model, *task, {.shards = 8, .ranks = &ranks});
class MpiRanks final : public Communicator {
 public:
  MpiRanks();
  /// If only this rank fails (by an exception), ends the others, too, which would wait for it.
  ~MpiRanks() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void exchange(const std::vector<Sent>& sent, const std::vector<Received>& received) override;
  std::optional<int> caller(double seconds) override;
  void broadcast(std::span<std::byte> bytes) override;
  bool meet(double seconds) override;
  [[noreturn]] void end_all(int status) override;

 private:
  struct Handles;
  std::unique_ptr<Handles> handles_;
  int rank_ = 0, size_ = 1;
};

/// Whether mpirun, mpiexec or srun started this program.
bool started_by_mpi();

}  // namespace retrace
