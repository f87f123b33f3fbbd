// An output stream that reports every write error.
#pragma once

#include <array>
#include <filesystem>
#include <ostream>
#include <streambuf>
#include <string>

namespace retrace {

/// The insertion or flush that fails to write throws FileError, with the name of the destination and the system's
/// reason. A std::ofstream would continue silently and lose the reason.
class OutputStream : public std::ostream {
 public:
  /// Writes to an open descriptor, which stays open. `remedy` tells the user how to go on if a write fails.
  OutputStream(int descriptor, const char* name, const char* remedy);
  /// Appends to a file that exists.
  explicit OutputStream(const std::filesystem::path& file);

  /// Flushes and waits until the data are on disk.
  void flush_to_disk();

 private:
  class Buffer : public std::streambuf {
   public:
    Buffer(int descriptor, bool owned, std::string name, const char* remedy);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    /// Tries to write what is left in the buffer; errors are ignored.
    ~Buffer() override;

    void flush_to_disk();

   protected:
    int overflow(int letter) override;
    int sync() override;

   private:
    int write_pending() noexcept;
    [[noreturn]] void fail(int reason) const;

    int descriptor_;
    bool owned_;
    std::string name_;
    const char* remedy_;
    std::array<char, 4096> bytes_;
  };

  Buffer buffer_;
};

}  // namespace retrace
