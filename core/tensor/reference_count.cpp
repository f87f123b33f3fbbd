#include <retrace/core/tensor/reference_count.h>

#include <utility>

namespace retrace::detail {

thread_local constinit CountingThread* this_thread = nullptr;

namespace {

// The places of threads that ended. Never destroyed: tensors may outlive every static object.
struct FreePlaces {
  std::mutex mutex;
  CountingThread* first = nullptr;
};
FreePlaces& free_places() {
  static FreePlaces* const instance = new FreePlaces;
  return *instance;
}

CountingThread* take_place() {
  FreePlaces& places = free_places();
  const std::lock_guard lock(places.mutex);
  if (places.first == nullptr) return new CountingThread;
  return std::exchange(places.first, places.first->next);
}

bool nothing_returned_at_the_end() {
  const std::lock_guard lock(this_thread->mutex);
  this_thread->runs = this_thread->returned.load(std::memory_order_relaxed) != nullptr;
  return !this_thread->runs;
}

void end_counting() {
  do take_back_returned();
  while (!nothing_returned_at_the_end());
  CountingThread* const place = std::exchange(this_thread, nullptr);
  FreePlaces& places = free_places();
  const std::lock_guard lock(places.mutex);
  place->next = places.first;
  places.first = place;
}

struct ThreadEnd {
  ~ThreadEnd() {
    end_counting();
    hand_over_all();
  }
};

}  // namespace

void begin_counting() {
  if (this_thread != nullptr) return;
  CountingThread* const place = take_place();
  {
    const std::lock_guard lock(place->mutex);
    place->runs = true;
  }
  this_thread = place;
  thread_local ThreadEnd at_end;
  static_cast<void>(at_end);
}

void take_back_returned() {
  if (this_thread->returned.load(std::memory_order_relaxed) == nullptr) return;
  ReferenceCount* list = nullptr;
  {
    const std::lock_guard lock(this_thread->mutex);
    list = this_thread->returned.exchange(nullptr, std::memory_order_relaxed);
  }
  while (list != nullptr) {
    ReferenceCount* const count = std::exchange(list, list->next_returned());
    if (!count->give_up_returned()) continue;
    count->free_by_owner();
  }
}

bool ReferenceCount::is_own() const {
  return (owner_.load(std::memory_order_relaxed) & ~shared) == reinterpret_cast<Owner>(this_thread) &&
         this_thread != nullptr;
}

void ReferenceCount::add_shared(Number number) {
  if (is_own()) {
    own_ += number;
    return;
  }
  owner_.fetch_or(shared, std::memory_order_relaxed);
  others_.fetch_add(number, std::memory_order_relaxed);
}

void ReferenceCount::remove_shared(Number number) {
  if (!is_own()) {
    if (remove_elsewhere(number)) free_for_all();
    return;
  }
  own_ -= number;
  if (static_cast<std::int32_t>(own_) > 0) return;
  if (others_.load(std::memory_order_acquire) != 0) {
    if (give_up_but(number)) free_for_all();
  } else if (own_ == 0) {
    free_by_owner();
  }
}

// The owner took `number` off and has no handle left, but other threads have references, or have lost some. The
// reference that it removes is given up, too, and removed only then: until that, nobody frees the object.
bool ReferenceCount::give_up_but(Number number) {
  Number before = others_.load(std::memory_order_relaxed);
  do {
    if ((before & returned) != 0) return false;  // in the list of this thread, or on its way there
  } while (!others_.compare_exchange_weak(before, before + own_ + number + given_up, std::memory_order_acq_rel,
                                          std::memory_order_relaxed));
  own_ = 0;
  owner_.store(shared, std::memory_order_relaxed);
  return remove_elsewhere(number);
}

// Whether nobody is left. Only who took the object from the list, or keeps it from getting there, calls this.
bool ReferenceCount::give_up_returned() {
  owner_.store(shared, std::memory_order_relaxed);
  const Number change = std::exchange(own_, 0) + given_up - returned;
  return ((others_.fetch_add(change, std::memory_order_acq_rel) + change) & ~flags) == 0;
}

bool ReferenceCount::remove_elsewhere(Number number) {
  owner_.fetch_or(shared, std::memory_order_relaxed);
  const auto is_negative = [](Number others) { return others < 0 || static_cast<std::int32_t>(others) < 0; };
  Number before = others_.load(std::memory_order_relaxed), after = 0;
  bool returns = false;
  do {
    after = before - number;
    returns = (after & flags) == 0 && is_negative(after);
    if (returns) after |= returned;
  } while (!others_.compare_exchange_weak(before, after, std::memory_order_acq_rel, std::memory_order_relaxed));
  return (after & given_up) != 0 ? (after & ~flags) == 0 : returns && return_to_owner();
}

// Whether nobody is left, which only the owner can tell, unless it has ended.
bool ReferenceCount::return_to_owner() {
  auto* const owner = reinterpret_cast<CountingThread*>(owner_.load(std::memory_order_relaxed) & ~shared);
  const std::lock_guard lock(owner->mutex);
  if (!owner->runs) return give_up_returned();
  next_returned() = owner->returned.load(std::memory_order_relaxed);
  owner->returned.store(this, std::memory_order_relaxed);
  return false;
}

}  // namespace retrace::detail
