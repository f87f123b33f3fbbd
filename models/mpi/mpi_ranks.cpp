#include <retrace/core/base/error.h>
#include <retrace/models/mpi/mpi_ranks.h>
#include <retrace/models/training/ranks/started_ranks.h>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>

namespace retrace {
namespace {

constexpr std::size_t largest_message = std::size_t{1} << 30;  // MPI counts in int

/// Calls start(place, count) for each part of the bytes that fits into a message.
template <class Byte, class Start> void in_messages(std::span<Byte> bytes, const Start& start) {
  for (std::size_t at = 0; at < bytes.size(); at += largest_message) {
    const std::span<Byte> part = bytes.subspan(at, std::min(largest_message, bytes.size() - at));
    start(part.data(), static_cast<int>(part.size()));
  }
}

/// Asks every few milliseconds, as MPI itself waits without a pause, at the cost of those who compute; no longer than
/// these seconds. Returns the last answer.
template <class Ask> bool waited_for(double seconds, const Ask& ask) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!ask()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

std::unique_ptr<Communicator> ranks_of_mpirun() { return started_by_mpi() ? std::make_unique<MpiRanks>() : nullptr; }

[[maybe_unused]] const bool registered = (register_ranks(ranks_of_mpirun), true);

}  // namespace

struct MpiRanks::Handles {
  MPI_Comm messages;  // of their own: no message of the program, or of meet(), is taken for one of these
  MPI_Comm meetings;
  bool ends_mpi;
};

MpiRanks::MpiRanks() : handles_(std::make_unique<Handles>()) {
  int is_started = 0, threads = 0;
  MPI_Initialized(&is_started);
  if (is_started == 0) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
  MPI_Query_thread(&threads);
  if (threads < MPI_THREAD_SERIALIZED)
    throw ValueError(
        is_started == 0
            ? "MpiRanks: this MPI has no support for threads; use a build of it that has"
            : "MpiRanks: MPI was started for one thread; start it by MPI_Init_thread with MPI_THREAD_SERIALIZED");
  handles_->ends_mpi = is_started == 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &handles_->messages);
  MPI_Comm_dup(MPI_COMM_WORLD, &handles_->meetings);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

MpiRanks::~MpiRanks() {
  constexpr double seconds_for_the_others = 2;
  if (std::uncaught_exceptions() > 0 && !meet(seconds_for_the_others)) end_all(1);
  if (handles_->ends_mpi) MPI_Finalize();
}

void MpiRanks::exchange(const std::vector<Sent>& sent, const std::vector<Received>& received) {
  constexpr int tag = 0;
  std::vector<MPI_Request> requests;
  for (const Received& each : received)
    in_messages(each.bytes, [&](std::byte* place, int count) {
      MPI_Irecv(place, count, MPI_BYTE, each.from, tag, handles_->messages, &requests.emplace_back());
    });
  for (const Sent& each : sent)
    in_messages(each.bytes, [&](const std::byte* place, int count) {
      MPI_Isend(place, count, MPI_BYTE, each.to, tag, handles_->messages, &requests.emplace_back());
    });
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void MpiRanks::broadcast(std::span<std::byte> bytes) {
  in_messages(bytes, [&](std::byte* place, int count) { MPI_Bcast(place, count, MPI_BYTE, 0, handles_->messages); });
}

std::optional<int> MpiRanks::caller(double seconds) {
  MPI_Status status;
  const auto someone_calls = [&] {
    int calls = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, handles_->messages, &calls, &status);
    return calls != 0;
  };
  if (!waited_for(seconds, someone_calls)) return std::nullopt;
  return status.MPI_SOURCE;
}

bool MpiRanks::meet(double seconds) {
  MPI_Request request;
  MPI_Ibarrier(handles_->meetings, &request);
  return waited_for(seconds, [&] {
    int all_came = 0;
    MPI_Test(&request, &all_came, MPI_STATUS_IGNORE);
    return all_came != 0;
  });
}

void MpiRanks::end_all(int status) {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

bool started_by_mpi() {
  const char* const set_by_launchers[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE",
                                          "MPI_LOCALNRANKS"};
  return std::ranges::any_of(set_by_launchers, [](const char* name) { return std::getenv(name) != nullptr; });
}

}  // namespace retrace
