// Jobs that are independent of each other, handed out to ranks as these become free.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <retrace/models/training/ranks/communicator.h>

namespace retrace {

/// Does the job of that number and returns its result as bytes; nothing if it was stopped. It makes no call of the
/// communicator.
using Job = std::function<std::optional<std::string>(std::int64_t number)>;

/// Runs the jobs 0, 1, ..., count - 1, each on one rank, and returns their results in this order, on every rank. They
/// are begun in this order, and a rank that is free begins the next one; without ranks, this process runs them all.
/// After a job was stopped, no other is begun, and the result is nothing, on every rank. What a job throws goes to the
/// caller on its rank alone, without waiting for the others.
std::optional<std::vector<std::string>> results_of_jobs(std::int64_t count, const Job& job, Communicator* ranks);
/// Runs jobs whose results are numbers and that cannot be stopped.
std::vector<double> numbers_of_jobs(std::int64_t count, const std::function<double(std::int64_t number)>& job,
                                    Communicator* ranks);

}  // namespace retrace
