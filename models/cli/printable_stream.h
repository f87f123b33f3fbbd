// Results as text that cannot control the terminal on which they are read.
#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace retrace {

/// Passes text on with its control codes escaped but for tabs and ends of lines (printable_lines), whatever a command
/// prints: the names of columns, classes and files, tokens of a text, arguments.
class PrintableStream : public std::ostream {
 public:
  explicit PrintableStream(std::ostream& destination);

 private:
  class Buffer : public std::streambuf {
   public:
    explicit Buffer(std::ostream& destination) : destination_(destination) {}
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    /// Passes on what is left; errors are ignored.
    ~Buffer() override;

   protected:
    int overflow(int letter) override;
    std::streamsize xsputn(const char* letters, std::streamsize count) override;
    int sync() override;

   private:
    void pass_on(std::size_t count);

    std::ostream& destination_;
    std::string waiting_;
  };

  Buffer buffer_;
};

}  // namespace retrace
