#include <retrace/models/training/ranks/started_ranks.h>

namespace retrace {
namespace {

constinit StartRanks start_ranks = nullptr;

}  // namespace

void register_ranks(StartRanks start) { start_ranks = start; }

std::unique_ptr<Communicator> started_ranks() { return start_ranks == nullptr ? nullptr : start_ranks(); }

}  // namespace retrace
