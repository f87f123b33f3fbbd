// Every reader of files and texts, with a valid file for it, for tests that damage the file.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace retrace {

/// What a reader can notice.
enum class Guard {
  contents,  // a checksum covers all that is read: damage is refused, or changes nothing that is read
  length,    // sizes are stored: a file that is cut short is refused; another value is a valid file of another value
  none,      // lines of text: a part of them is a valid file, too
};

/// A reader and its file.
struct FileReader {
  std::string_view name;
  std::string_view file;  // its name, with the ending that the reader looks for
  Guard guard;
  std::string_view slack;  // what of the file may differ and is read alike, or as another valid file, and why
  std::string (*valid)();  // the bytes of a valid file; some 20 KB where the format has sizes
  /// Reads the file; returns all that was read, as a text. Throws what the reader throws, and std::logic_error if the
  /// reader failed and had nevertheless changed something.
  std::string (*read)(const std::string& path);
  /// What a refusal must name; empty: the path.
  std::string_view refusal = {};
};

/// All of them.
std::span<const FileReader> file_readers();

}  // namespace retrace
