// Deflated data (RFC 1951), by zlib where the build found it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace retrace {

/// The `size` bytes that a raw deflate stream holds. Errors begin with `who`. Throws FileError for a stream that is
/// damaged or has another size, and in a build without zlib.
std::string inflate(std::string_view deflated, std::uint64_t size, const std::string& who);

/// The path that stands for standard input.
inline constexpr std::string_view standard_input = "-";

/// The bytes of a file; of a gzip file (x.gz), what it holds. Errors begin with `who`. Throws FileError for a file that
/// cannot be read or is damaged, and for a gzip file in a build without zlib.
std::string read_plain_or_gzip(const std::string& path, const std::string& who);

}  // namespace retrace
