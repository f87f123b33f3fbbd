#include <retrace/core/base/error.h>
#include <retrace/models/cli/output_stream.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace retrace {
namespace {

constexpr const char* remedy_for_files = "make room or choose another --out";

FileError unwritable(const std::string& name, int reason, const char* remedy) {
  return FileError(text("retrace: ", name, " cannot be written: ", std::strerror(reason), "; ", remedy));
}

int open_file(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) throw unwritable(file.string(), errno, remedy_for_files);
  return descriptor;
}

}  // namespace

OutputStream::OutputStream(int descriptor, const char* name, const char* remedy)
    : std::ostream(nullptr), buffer_(descriptor, false, name, remedy) {
  rdbuf(&buffer_);
  exceptions(std::ios::badbit);
}

OutputStream::OutputStream(const std::filesystem::path& file)
    : std::ostream(nullptr), buffer_(open_file(file), true, file.string(), remedy_for_files) {
  rdbuf(&buffer_);
  exceptions(std::ios::badbit);
}

void OutputStream::flush_to_disk() {
  flush();
  buffer_.flush_to_disk();
}

OutputStream::Buffer::Buffer(int descriptor, bool owned, std::string name, const char* remedy)
    : descriptor_(descriptor), owned_(owned), name_(std::move(name)), remedy_(remedy) {
  setp(bytes_.data(), bytes_.data() + bytes_.size());
}

OutputStream::Buffer::~Buffer() {
  write_pending();
  if (owned_) ::close(descriptor_);
}

// Returns 0 or the errno of the failure. Bytes that could not be written are dropped.
int OutputStream::Buffer::write_pending() noexcept {
  const char* next = pbase();
  int reason = 0;
  while (next != pptr() && reason == 0) {
    const ssize_t written = ::write(descriptor_, next, static_cast<std::size_t>(pptr() - next));
    if (written >= 0)
      next += written;
    else if (errno != EINTR)
      reason = errno;
  }
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  return reason;
}

int OutputStream::Buffer::overflow(int letter) {
  sync();
  if (traits_type::eq_int_type(letter, traits_type::eof())) return traits_type::not_eof(letter);
  return sputc(traits_type::to_char_type(letter));
}

int OutputStream::Buffer::sync() {
  if (const int reason = write_pending(); reason != 0) fail(reason);
  return 0;
}

void OutputStream::Buffer::flush_to_disk() {
  const bool is_on_disk =
      ::fsync(descriptor_) == 0 || errno == EINVAL || errno == EROFS;  // devices do not support fsync
  if (!is_on_disk) fail(errno);
}

void OutputStream::Buffer::fail(int reason) const { throw unwritable(name_, reason, remedy_); }

}  // namespace retrace
