#include <retrace/core/base/error.h>
#include <retrace/core/files/replacement_file.h>
#include <retrace/models/data/inflate.h>
#include <retrace/models/data/npy.h>
#include <retrace/models/data/npy_format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace retrace {

Tensor read_npy(const std::string& path) {
  constexpr int first_byte_of_gzip = 0x1f;
  const std::string who = text("read_npy: ", path);
  std::ifstream file(path, std::ios::binary);
  const int reason = errno;
  std::error_code failure;
  const std::uintmax_t size = std::filesystem::file_size(path, failure);
  if (failure) throw FileError(text(who, ": ", failure.message(), "; check the path"));
  if (!file) throw FileError(text(who, ": ", std::strerror(reason), "; check the permissions"));
  return file.peek() == first_byte_of_gzip ? parse_npy(read_plain_or_gzip(path, who), path)
                                           : read_npy_array(file, size, who);
}

Tensor parse_npy(std::string content, const std::string& name) {
  return read_npy_array(std::move(content), text("read_npy: ", name));
}

void write_npy(const std::string& path, const Tensor& x) {
  const std::string header = npy_header(x, text("write_npy: ", path));
  ReplacementFile file("write_npy", path);
  file.write(header.data(), header.size());
  dispatch_any(x.dtype(), [&](auto zero) {
    const auto values = x.values<decltype(zero)>();
    file.write(values.data(), values.size_bytes());
  });
  file.put_into_place();
}

}  // namespace retrace
