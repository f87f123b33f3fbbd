// Memory for what lives as long as a tape: records, their lists and attributes.
#pragma once

#include <cstddef>

namespace retrace::detail {

/// Hands out memory in order, in chunks from the pool, so that a tape of the same length asks for no new memory. Frees
/// all of it at once, and runs no destructors.
class Arena {
 public:
  Arena() = default;
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Aligned to 16 bytes.
  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    bytes = aligned(bytes);
    if (static_cast<std::size_t>(end_ - next_) < bytes) [[unlikely]]
      add_chunk(bytes);
    std::byte* const place = next_;
    next_ += bytes;
    return place;
  }
  static constexpr std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

 private:
  struct Chunk;
  void add_chunk(std::size_t bytes);

  Chunk* chunk_ = nullptr;
  std::byte* next_ = nullptr;
  std::byte* end_ = nullptr;
};

}  // namespace retrace::detail
