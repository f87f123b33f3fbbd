#include <retrace/core/tape/arena.h>
#include <retrace/core/tensor/storage.h>

#include <algorithm>
#include <new>

namespace retrace::detail {

struct Arena::Chunk {
  Storage* storage;
  Chunk* outer;
};

void Arena::add_chunk(std::size_t bytes) {
  constexpr std::size_t chunk_bytes = std::size_t{1} << 18;
  const std::size_t room = std::max(chunk_bytes, bytes + aligned(sizeof(Chunk)));
  Storage* const storage = allocate_storage(room);
  std::byte* const place = static_cast<std::byte*>(storage->data());
  chunk_ = new (place) Chunk{storage, chunk_};
  next_ = place + aligned(sizeof(Chunk));
  end_ = place + room;
}

Arena::~Arena() {
  while (chunk_ != nullptr) {
    Storage* const done = chunk_->storage;
    chunk_ = chunk_->outer;
    release(done);
  }
}

}  // namespace retrace::detail
