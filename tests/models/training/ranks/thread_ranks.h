// Ranks that are threads of the test.
#pragma once

#include <retrace/core/base/parallel.h>
#include <retrace/core/base/threads_scope.h>
#include <retrace/models/training/ranks/communicator.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace retrace {

/// The letters that are on their way.
struct Post {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> letters;  // from, to
  int failed = 0;
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(Post& post, int rank, int size) : post_(post), rank_(rank), size_(size) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void exchange(const std::vector<Sent>& sent, const std::vector<Received>& received) override {
    {
      const std::lock_guard lock(post_.mutex);
      for (const Sent& each : sent) {
        post_.letters[{rank_, each.to}].emplace_back(each.bytes.begin(), each.bytes.end());
        bytes_sent += each.bytes.size();
      }
      post_.arrived.notify_all();
    }
    for (const Received& each : received) {
      std::unique_lock lock(post_.mutex);
      auto& box = post_.letters[{each.from, rank_}];
      if (!post_.arrived.wait_for(lock, std::chrono::seconds(20), [&] { return !box.empty(); }))
        throw std::runtime_error("no letter came");
      if (box.front().size() != each.bytes.size()) throw std::runtime_error("a letter of another size came");
      std::ranges::copy(box.front(), each.bytes.begin());
      box.pop_front();
    }
  }
  std::optional<int> caller(double seconds) override {
    std::unique_lock lock(post_.mutex);
    std::optional<int> found;
    post_.arrived.wait_for(lock, std::chrono::duration<double>(seconds), [&] {
      for (const auto& [ways, box] : post_.letters)
        if (ways.second == rank_ && !box.empty()) found = ways.first;
      return found.has_value();
    });
    return found;
  }
  void broadcast(std::span<std::byte> bytes) override { share_from(*this, 0, bytes); }
  bool meet(double seconds) override {
    std::unique_lock lock(post_.mutex);
    ++post_.failed;
    post_.arrived.notify_all();
    return post_.arrived.wait_for(lock, std::chrono::duration<double>(seconds),
                                  [&] { return post_.failed % size_ == 0; });
  }
  [[noreturn]] void end_all(int) override { throw std::runtime_error("end of all ranks"); }

  std::size_t bytes_sent = 0;

 private:
  Post& post_;
  int rank_, size_;
};

/// Runs the body on every rank at the same time; rethrows the exception of the first rank that has one.
inline void on_ranks(int size, const std::function<void(ThreadRank&)>& body) {
  Post post;
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      const ThreadsScope one_thread(1);
      ThreadRank own(post, rank, size);
      try {
        body(own);
      } catch (...) {
        errors[static_cast<std::size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace retrace
