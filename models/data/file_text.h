// Text files, as other programs write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace retrace {

/// The line that holds a byte of a text, from 1. A line ends with LF, CR LF or, as in old files of Excel for Mac, CR.
std::int64_t line_of(std::string_view text, std::size_t position);

/// Throws ValueError, with the byte and the line, where `utf8` is not UTF-8 (RFC 3629: no surrogates, nothing above
/// U+10FFFF, no longer form than needed). `what` names it in the error.
void check_utf8(std::string_view utf8, std::string_view what);

/// Throws ValueError, in the name of `who`, for the name of a file that is not UTF-8: stored with a model, it would not
/// find the file again.
void check_storable(const std::string& path, const std::string& who);

/// A text in UTF-8 without its byte-order mark. Errors begin with `who`. Throws FileError, with the line and the
/// remedy, for another encoding and for a zero byte.
std::string utf8_text(std::string bytes, const std::string& who);

/// The text of a file, also of one that is packed as x.gz: what read_plain_or_gzip and utf8_text make of it.
std::string read_utf8_file(const std::string& path, const std::string& who);

}  // namespace retrace
