// A stream that does not lose what it is given.
#pragma once

#include <array>
#include <filesystem>
#include <ostream>
#include <streambuf>
#include <string>

namespace retrace {

/// Throws FileError, with the name of what is written and the system's reason, from the insertion or flush that could
/// not write; a std::ofstream would go on without a word, and forget why.
class OutputStream : public std::ostream {
 public:
  /// To what is open already, and stays so. `remedy` is what to do if it cannot be written.
  OutputStream(int descriptor, const char* name, const char* remedy);
  enum class Existing { emptied, appended_to };
  /// To a file, which is made if it is not there.
  OutputStream(const std::filesystem::path& file, Existing existing);

  /// Flushes, and waits until the disk has what was written.
  void flush_to_disk();

 private:
  class Buffer : public std::streambuf {
   public:
    Buffer(int descriptor, bool owned, std::string name, const char* remedy);
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    /// What an error left behind is written if that is possible.
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
