#include <retrace/core/base/error.h>
#include <retrace/models/data/inflate.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>

#if defined(RETRACE_HAS_ZLIB)
#define ZLIB_CONST
#include <zlib.h>
#endif

namespace retrace {
namespace {

#if defined(RETRACE_HAS_ZLIB)

[[noreturn]] void refuse_deflated(const std::string& who) {
  throw FileError(text(who, ": its compressed data are damaged; write or download the file again"));
}

/// One decompression, ended on every way out.
class Inflation {
 public:
  /// zlib's window bits: -15 for raw data, 15 + 16 for gzip.
  Inflation(std::string_view from, int window_bits) : from_(from) {
    if (inflateInit2(&stream_, window_bits) != Z_OK) throw std::bad_alloc();
  }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
  ~Inflation() { inflateEnd(&stream_); }

  /// Fills `to` as far as the stream goes; returns how much of it.
  std::size_t fill(char* to, std::size_t size) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    std::size_t done = 0;
    while (done < size && !ended_) {
      const uInt room = static_cast<uInt>(std::min(size - done, most));
      stream_.next_out = reinterpret_cast<Bytef*>(to + done), stream_.avail_out = room;
      const uInt given = static_cast<uInt>(std::min(from_.size(), most));
      stream_.next_in = reinterpret_cast<const Bytef*>(from_.data()), stream_.avail_in = given;
      const int state = ::inflate(&stream_, Z_NO_FLUSH);
      from_.remove_prefix(given - stream_.avail_in);
      done += room - stream_.avail_out;
      failed_ = state != Z_OK && state != Z_STREAM_END;
      ended_ = failed_ || state == Z_STREAM_END;
    }
    return done;
  }
  bool ended() const { return ended_; }
  bool failed() const { return failed_; }
  /// Goes on with another stream after this one, if there is one.
  bool next() {
    if (from_.empty()) return false;
    inflateReset(&stream_);
    ended_ = false;
    return true;
  }

 private:
  std::string_view from_;
  z_stream stream_{};
  bool ended_ = false, failed_ = false;
};

std::string gunzip(std::string_view packed, const std::string& who) {
  Inflation inflation(packed, 15 + 16);
  std::string result;
  std::array<char, 65536> part;
  do {
    while (!inflation.ended()) result.append(part.data(), inflation.fill(part.data(), part.size()));
    if (inflation.failed()) refuse_deflated(who);
  } while (inflation.next());
  return result;
}

#else

[[noreturn]] void refuse_without_zlib(const std::string& who, const char* remedy) {
  throw FileError(text(who, ": it is compressed, and this build of Retrace has no zlib; ", remedy,
                       ", or install zlib1g-dev and build Retrace again"));
}

#endif

}  // namespace

#if defined(RETRACE_HAS_ZLIB)

std::string inflate(std::string_view deflated, std::uint64_t size, const std::string& who) {
  constexpr std::uint64_t largest_ratio = 1032;  // of any deflate stream
  if (size / largest_ratio > deflated.size()) refuse_deflated(who);
  std::string result(size + 1, '\0');  // one byte more, to find a stream that is too long
  Inflation inflation(deflated, -15);
  const std::size_t done = inflation.fill(result.data(), result.size());
  if (inflation.failed() || !inflation.ended() || done != size) refuse_deflated(who);
  result.pop_back();
  return result;
}

#else

std::string inflate(std::string_view, std::uint64_t, const std::string& who) {
  refuse_without_zlib(who, "write it with numpy.savez instead of numpy.savez_compressed");
}

#endif

std::string read_plain_or_gzip(const std::string& path, const std::string& who) {
  const auto refuse = [&who](std::string_view why) {
    throw FileError(text(who, " cannot be read: ", why, "; check the path and the permissions"));
  };
  if (std::error_code error; std::filesystem::is_directory(path, error)) refuse("it is a folder");
  std::ifstream file(path == standard_input ? "/dev/stdin" : path, std::ios::binary);
  if (!file) refuse(std::strerror(errno));
  std::string bytes;
  std::array<char, 65536> part;
  do {
    file.read(part.data(), part.size());
    bytes.append(part.data(), static_cast<std::size_t>(file.gcount()));
  } while (file);
  if (file.bad()) refuse(std::strerror(errno));
  if (!bytes.starts_with("\x1f\x8b")) return bytes;
#if defined(RETRACE_HAS_ZLIB)
  return gunzip(bytes, who);
#else
  refuse_without_zlib(who, "unpack it with gunzip");
#endif
}

}  // namespace retrace
