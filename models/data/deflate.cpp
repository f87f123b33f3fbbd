#include <retrace/models/data/deflate.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#if defined(RETRACE_HAS_ZLIB)
#define ZLIB_CONST
#include <zlib.h>
#endif

namespace retrace {

#if defined(RETRACE_HAS_ZLIB)

namespace {

/// One compression, ended on every way out.
class Deflation {
 public:
  Deflation() {
    constexpr int gzip_window = 15 + 16, memory_level = 9;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level, Z_DEFAULT_STRATEGY) !=
        Z_OK)
      throw std::bad_alloc();
  }
  Deflation(const Deflation&) = delete;
  Deflation& operator=(const Deflation&) = delete;
  ~Deflation() { deflateEnd(&stream_); }

  std::string packed(std::string_view from) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    std::string result;
    std::array<char, 65536> part;
    for (int state = Z_OK; state != Z_STREAM_END;) {
      if (stream_.avail_in == 0) {
        const std::string_view next = from.substr(0, std::min(from.size(), most));
        stream_.next_in = reinterpret_cast<const Bytef*>(next.data());
        stream_.avail_in = static_cast<uInt>(next.size());
        from.remove_prefix(next.size());
      }
      stream_.next_out = reinterpret_cast<Bytef*>(part.data()), stream_.avail_out = part.size();
      state = deflate(&stream_, from.empty() ? Z_FINISH : Z_NO_FLUSH);
      result.append(part.data(), part.size() - stream_.avail_out);
    }
    return result;
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::optional<std::string> gzip(std::string_view bytes) { return Deflation().packed(bytes); }

#else

std::optional<std::string> gzip(std::string_view) { return std::nullopt; }

#endif

}  // namespace retrace
