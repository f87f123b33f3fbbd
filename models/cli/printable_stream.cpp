#include <retrace/core/base/printable.h>
#include <retrace/models/cli/printable_stream.h>

#include <exception>

namespace retrace {

PrintableStream::PrintableStream(std::ostream& destination) : std::ostream(nullptr), buffer_(destination) {
  rdbuf(&buffer_);
  exceptions(std::ios::badbit);  // what the destination throws
}

PrintableStream::Buffer::~Buffer() {
  try {
    pass_on(waiting_.size());
  } catch (const std::exception&) {  // there is nobody to tell
  }
}

int PrintableStream::Buffer::overflow(int letter) {
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  const char one = traits_type::to_char_type(letter);
  xsputn(&one, 1);
  return letter;
}

// Whole lines at a time: a code of several bytes must not be taken apart.
std::streamsize PrintableStream::Buffer::xsputn(const char* letters, std::streamsize count) {
  constexpr std::size_t enough = 4096;
  waiting_.append(letters, static_cast<std::size_t>(count));
  if (waiting_.size() > enough) pass_on(waiting_.rfind('\n') + 1);
  return count;
}

int PrintableStream::Buffer::sync() {
  pass_on(waiting_.size());
  destination_.flush();
  return 0;  // a stream that does not throw keeps its failure in its own state
}

void PrintableStream::Buffer::pass_on(std::size_t count) {
  const std::string now = waiting_.substr(0, count);
  waiting_.erase(0, count);
  destination_ << printable_lines(now);
}

}  // namespace retrace
