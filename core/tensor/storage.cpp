#include <retrace/core/tensor/memory.h>
#include <retrace/core/tensor/storage.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>

#if defined(__linux__)
#include <sys/mman.h>
#include <sys/sysinfo.h>
#endif

#include <retrace/core/base/error.h>
#include <retrace/core/tensor/poison.h>

namespace retrace {
namespace {

// Classes hold 64 << 0, then four sizes an octave: at most a fifth of a block is unused.
constexpr std::size_t steps_per_octave = 4;
constexpr std::size_t smallest = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t class_count = 42 * steps_per_octave;
constexpr std::size_t max_bytes = std::size_t{1} << 46;

std::size_t class_of(std::size_t bytes) {
  if (bytes <= smallest) return 0;
  const std::size_t units = (bytes - 1) / smallest;  // at least 1
  const std::size_t octave = static_cast<std::size_t>(std::bit_width(units)) - 1;
  const std::size_t quarter = octave < 2 ? (units - (std::size_t{1} << octave)) << (2 - octave)
                                         : (units >> (octave - 2)) & (steps_per_octave - 1);
  return 1 + octave * steps_per_octave + quarter;
}

constexpr std::size_t computed_bytes_of(std::size_t size_class) {
  if (size_class == 0) return smallest;
  const std::size_t octave = (size_class - 1) / steps_per_octave;
  const std::size_t quarter = (size_class - 1) % steps_per_octave;
  const std::size_t quarters = (steps_per_octave + quarter + 1) << octave;  // in quarters of 64 bytes
  return (quarters * smallest / steps_per_octave + smallest - 1) / smallest * smallest;
}

constexpr auto class_bytes = [] {
  std::array<std::size_t, class_count> bytes{};
  for (std::size_t k = 0; k < class_count; ++k) bytes[k] = computed_bytes_of(k);
  return bytes;
}();

std::size_t bytes_of(std::size_t size_class) { return class_bytes[size_class]; }

// Blocks left by threads that ended, and what those threads had counted. Never destroyed: tensors may outlive every
// static object.
struct ThreadPool;
struct Common {
  std::mutex mutex;
  std::array<Storage*, class_count> free{};
  ThreadPool* pools = nullptr;  // of the threads that live
  MemoryStats ended;            // of those that do not
};
Common& common() {
  static Common* const instance = new Common;
  return *instance;
}

// A counter of one thread that others may read: plain loads and stores, no locked instruction.
class Counter {
 public:
  void add(std::int64_t n) { count_.store(get() + n, std::memory_order_relaxed); }
  void raise_to(std::int64_t n) {
    if (n > get()) count_.store(n, std::memory_order_relaxed);
  }
  std::int64_t get() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> count_{0};
};

// Trivially destructible, so that the fast path needs no guard; hand_over_blocks() empties it.
struct ThreadPool {
  enum class State : std::uint8_t { unused, open, ended };

  std::array<Storage*, class_count> free;
  Counter live, peak, held, fresh;  // bytes in use, their most, bytes ever got and kept by this thread, blocks
  ThreadPool* next;
  State state;

  void add_to(MemoryStats& sum) const {
    sum.live_bytes += live.get();
    sum.peak_bytes += peak.get();
    sum.pooled_bytes += held.get() - live.get();
    sum.fresh_blocks += fresh.get();
  }
};
thread_local constinit ThreadPool pool{};

// Before the first block of a thread is taken or given back.
void open_pool() {
  detail::begin_counting();
  if (pool.state != ThreadPool::State::unused) return;
  Common& all = common();
  const std::lock_guard lock(all.mutex);
  pool.next = all.pools;
  all.pools = &pool;
  pool.state = ThreadPool::State::open;
}

Storage* pop(std::size_t size_class) {
  Storage* const block = pool.free[size_class];
  if (block != nullptr) pool.free[size_class] = block->next;
  return block;
}

// A free block of up to twice the size, for large ones: less of it is unused than of the one that it saves.
Storage* larger_block(std::size_t size_class) {
  if (bytes_of(size_class) < huge_page) return nullptr;
  const std::size_t last = std::min(size_class + steps_per_octave, class_count - 1);
  for (std::size_t larger = size_class + 1; larger <= last; ++larger)
    if (Storage* block = pop(larger)) return block;
  return nullptr;
}

Storage* adopt_orphan(std::size_t size_class) {
  Common& all = common();
  const std::lock_guard lock(all.mutex);
  Storage* block = all.free[size_class];
  if (block != nullptr) all.free[size_class] = block->next;
  return block;
}

[[noreturn]] void throw_out_of_memory(std::size_t bytes) {
  throw MemoryError(text("memory: a block of ", bytes, " bytes could not be allocated; use smaller sizes or batches"));
}

// Huge pages hold no more than what is asked for: the system takes a huge page as a whole when a part of it is written.
Storage* fresh_block(std::size_t size_class, std::size_t needed) {
  const std::size_t bytes = bytes_of(size_class) + sizeof(Storage);
  const bool large = bytes >= huge_page;
  if (large && bytes > total_memory()) throw_out_of_memory(bytes);
  const std::size_t alignment = large ? huge_page : 64;
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw_out_of_memory(bytes);
#if defined(__linux__)
  // The first touch of 4 KiB pages costs more than many kernels.
  if (large) madvise(memory, (needed + sizeof(Storage)) / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  pool.fresh.add(1);
  pool.held.add(static_cast<std::int64_t>(bytes_of(size_class)));
  Storage* block = new (memory) Storage;
  block->size_class = static_cast<std::uint32_t>(size_class);
  return block;
}

[[gnu::always_inline]] inline Storage* in_use(Storage* block, std::size_t size_class, std::size_t needed) {
  block->restart();
  poison_after(block->data(), needed, bytes_of(size_class));
  pool.live.add(static_cast<std::int64_t>(bytes_of(size_class)));
  pool.peak.raise_to(pool.live.get());
  return block;
}

// The slow path: nothing of this class waits in this thread. Both slow paths are calls at the end of a function, which
// then needs no frame for the fast one.
[[gnu::noinline]] Storage* find_block(std::size_t bytes) {
  if (bytes > max_bytes) throw_out_of_memory(bytes);
  const std::size_t size_class = class_of(bytes);
  open_pool();
  detail::take_back_returned();
  Storage* block = pop(size_class);
  if (block == nullptr) block = larger_block(size_class);
  if (block == nullptr) block = adopt_orphan(size_class);
  if (block == nullptr) block = fresh_block(size_class, bytes);
  return in_use(block, block->size_class, bytes);
}

}  // namespace

std::size_t total_memory() {
  static const std::size_t total = [] {
#if defined(__linux__)
    struct sysinfo info {};
    if (sysinfo(&info) == 0) return (std::size_t{info.totalram} + info.totalswap) * info.mem_unit;
#endif
    return std::numeric_limits<std::size_t>::max();
  }();
  return total;
}

Storage* detail::allocate_storage(std::size_t bytes) {
  const std::size_t size_class = class_of(bytes);
  Storage* block = size_class < class_count ? pool.free[size_class] : nullptr;
  if (block == nullptr) [[unlikely]]
    return find_block(bytes);
  pool.free[size_class] = block->next;
  return in_use(block, size_class, bytes);
}

void detail::free_storage(Storage* storage) {
  if (pool.state != ThreadPool::State::open) [[unlikely]]
    return free_storage_for_all(storage);
  const std::size_t size_class = storage->size_class;
  poison_after(storage->data(), 0, bytes_of(size_class));
  pool.live.add(-static_cast<std::int64_t>(bytes_of(size_class)));
  storage->end_version();
  storage->next = pool.free[size_class];
  pool.free[size_class] = storage;
}

void detail::free_storage_for_all(Storage* storage) {
  storage->end_version();
  poison_after(storage->data(), 0, bytes_of(storage->size_class));
  const auto bytes = static_cast<std::int64_t>(bytes_of(storage->size_class));
  Common& heir = common();
  const std::lock_guard lock(heir.mutex);
  heir.ended.live_bytes -= bytes;
  heir.ended.pooled_bytes += bytes;
  storage->next = heir.free[storage->size_class];
  heir.free[storage->size_class] = storage;
}

void detail::hand_over_blocks() {
  Common& heir = common();
  const std::lock_guard lock(heir.mutex);
  for (std::size_t k = 0; k < class_count; ++k)
    while (Storage* block = pop(k)) {
      block->next = heir.free[k];
      heir.free[k] = block;
    }
  pool.add_to(heir.ended);
  pool.state = ThreadPool::State::ended;
  for (ThreadPool** link = &heir.pools; *link != nullptr; link = &(*link)->next)
    if (*link == &pool) {
      *link = pool.next;
      break;
    }
}

void* detail::allocate_pooled(std::size_t bytes) { return allocate_storage(bytes)->data(); }

void detail::free_pooled(void* first) {
  free_storage(reinterpret_cast<Storage*>(static_cast<std::byte*>(first) - sizeof(Storage)));
}

MemoryStats memory_stats() {
  if (detail::this_thread != nullptr) detail::take_back_returned();
  Common& all = common();
  const std::lock_guard lock(all.mutex);
  MemoryStats sum = all.ended;
  for (const ThreadPool* each = all.pools; each != nullptr; each = each->next) each->add_to(sum);
  return sum;
}

}  // namespace retrace
