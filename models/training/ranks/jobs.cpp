// Rank 0 has the queue. Another rank that is free sends it a report of its last job, and gets the number of the next.
// As rank 0 computes, too, a second thread of it reads reports; the first makes no call meanwhile.
#include <retrace/models/training/ranks/jobs.h>

#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace retrace {
namespace {

constexpr std::int64_t none = -1;

/// A message to rank 0, which announces the bytes of a result.
struct JobReport {
  std::int64_t job = none;  // the one that is done; none before the first
  std::int64_t size = 0;    // bytes of its result; -1: it was stopped
};

template <class T> std::span<std::byte> bytes_of_value(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}
std::span<std::byte> bytes_of_text(std::string& text) { return std::as_writable_bytes(std::span(text)); }

class JobQueue {
 public:
  explicit JobQueue(std::int64_t count) : results_(static_cast<std::size_t>(count)) {}

  /// The number of a job to begin; none if there is none left.
  std::int64_t take() {
    const std::lock_guard lock(mutex_);
    return stopped_ || next_ == std::ssize(results_) ? none : next_++;
  }
  void put(std::int64_t number, std::optional<std::string> result) {
    const std::lock_guard lock(mutex_);
    if (result)
      results_[static_cast<std::size_t>(number)] = std::move(*result);
    else
      stopped_ = true;
  }
  /// When all jobs have ended.
  std::optional<std::vector<std::string>> results() {
    if (stopped_) return std::nullopt;
    return std::move(results_);
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> results_;
  std::int64_t next_ = 0;
  bool stopped_ = false;
};

void run_jobs(JobQueue& queue, const Job& job) {
  for (std::int64_t number = queue.take(); number != none; number = queue.take()) queue.put(number, job(number));
}

/// Serves the other ranks until each has been told that there is nothing left, or `abandoned` is set.
void serve(JobQueue& queue, Communicator& ranks, const std::atomic<bool>& abandoned) {
  constexpr double seconds_between_looks = 0.1;
  for (int served = ranks.size() - 1; served > 0 && !abandoned;) {
    const std::optional<int> rank = ranks.caller(seconds_between_looks);
    if (!rank) continue;
    JobReport report;
    ranks.exchange({}, {{*rank, bytes_of_value(report)}});
    std::optional<std::string> result;
    if (report.size >= 0) {
      result.emplace(static_cast<std::size_t>(report.size), '\0');
      if (!result->empty()) ranks.exchange({}, {{*rank, bytes_of_text(*result)}});
    }
    if (report.job != none) queue.put(report.job, std::move(result));
    std::int64_t next = queue.take();
    ranks.exchange({{*rank, bytes_of_value(next)}}, {});
    if (next == none) --served;
  }
}

/// The part of rank 0.
void run_and_serve(JobQueue& queue, const Job& job, Communicator& ranks) {
  std::atomic<bool> abandoned = false;
  std::exception_ptr failure;
  std::thread server([&] {
    try {
      serve(queue, ranks, abandoned);
    } catch (...) {
      failure = std::current_exception();
      queue.put(0, std::nullopt);  // nothing is begun for which nobody would wait
    }
  });
  try {
    run_jobs(queue, job);
  } catch (...) {
    abandoned = true;
    server.join();
    throw;
  }
  server.join();
  if (failure) std::rethrow_exception(failure);
}

/// The part of another rank.
void run_for_first(const Job& job, Communicator& ranks) {
  std::optional<std::string> result = std::string();
  for (std::int64_t number = none;;) {
    JobReport report{.job = number, .size = result ? std::ssize(*result) : -1};
    std::vector<Sent> sent{{0, bytes_of_value(report)}};
    if (report.size > 0) sent.push_back({0, bytes_of_text(*result)});
    ranks.exchange(sent, {{0, bytes_of_value(number)}});
    if (number == none) return;
    result = job(number);
  }
}

/// Gives every rank the results that rank 0 has.
std::optional<std::vector<std::string>> shared(std::optional<std::vector<std::string>> results, std::int64_t count,
                                               Communicator& ranks) {
  if (!of_first(&ranks, results.has_value())) return std::nullopt;
  results->resize(static_cast<std::size_t>(count));
  for (std::string& each : *results) {
    each.resize(of_first(&ranks, each.size()));
    ranks.broadcast(bytes_of_text(each));
  }
  return results;
}

}  // namespace

std::optional<std::vector<std::string>> results_of_jobs(std::int64_t count, const Job& job, Communicator* ranks) {
  JobQueue queue(count);
  if (ranks == nullptr || ranks->size() == 1) {
    run_jobs(queue, job);
    return queue.results();
  }
  if (is_first(ranks))
    run_and_serve(queue, job, *ranks);
  else
    run_for_first(job, *ranks);
  return shared(queue.results(), count, *ranks);
}

std::vector<double> numbers_of_jobs(std::int64_t count, const std::function<double(std::int64_t number)>& job,
                                    Communicator* ranks) {
  const auto as_bytes_of_job = [&](std::int64_t number) {
    const double result = job(number);
    return std::string(reinterpret_cast<const char*>(&result), sizeof result);
  };
  const auto results = results_of_jobs(count, as_bytes_of_job, ranks);
  std::vector<double> numbers;
  for (const std::string& bytes : *results) std::memcpy(&numbers.emplace_back(), bytes.data(), sizeof(double));
  return numbers;
}

}  // namespace retrace
