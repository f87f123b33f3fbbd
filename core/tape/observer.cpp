#include <retrace/core/tape/observer.h>

#include <utility>

namespace retrace {
namespace {

thread_local constinit TapeObserver* current_observer = nullptr;

}  // namespace

TapeObserver* TapeObserver::current() { return current_observer; }

TapeObserver* TapeObserver::exchange(TapeObserver* observer) { return std::exchange(current_observer, observer); }

}  // namespace retrace
