// The writing half; core/safetensors.cpp has the other.
#include <retrace/core/safetensors.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include <nlohmann/json.hpp>

namespace retrace {
namespace {

using nlohmann::json;

void check_tensor(const std::string& name, const Tensor& tensor) {
  if (name == "__metadata__")
    throw ValueError(
        "write_safetensors: a tensor is called __metadata__, which the format keeps for itself; rename it");
  if (!tensor.defined() || !tensor.has_values())
    throw ValueError(text("write_safetensors: ", name, " has no values; assign a tensor to it first"));
  if (tensor.dtype() == dual)
    throw DtypeError(text("write_safetensors: ", name, " is dual, which the format does not know; write it as f64"));
}

const char* format_name(Dtype dtype) { return dtype == f32 ? "F32" : dtype == f64 ? "F64" : "I64"; }

std::string header_of(const std::map<std::string, Tensor>& tensors,
                      const std::map<std::string, std::string>& metadata) {
  json header = json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t at = 0;
  for (const auto& [name, tensor] : tensors) {
    check_tensor(name, tensor);
    const std::uint64_t end = at + static_cast<std::uint64_t>(tensor.numel()) * size_of(tensor.dtype());
    header[name] = {{"dtype", format_name(tensor.dtype())},
                    {"shape", std::vector<std::int64_t>(tensor.shape().begin(), tensor.shape().end())},
                    {"data_offsets", {at, end}}};
    at = end;
  }
  try {
    std::string result = header.dump();
    result.resize((result.size() + 7) / 8 * 8, ' ');
    return result;
  } catch (const json::type_error&) {
    throw ValueError("write_safetensors: a name or the metadata is not UTF-8, as the format asks; encode it");
  }
}

// A file that is removed again unless it is put into its place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& place) : place_(place), path_(text(place, unique_ending())) {
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0) fail("cannot be created");
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    ::close(file_);
    if (!placed_) ::unlink(path_.c_str());
  }
  void write(const void* bytes, std::size_t count) {
    const char* next = static_cast<const char*>(bytes);
    while (count > 0) {
      const ssize_t written = ::write(file_, next, count);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("cannot be written");
      next += written;
      count -= static_cast<std::size_t>(written);
    }
  }
  void put_into_place() {
    if (::fsync(file_) != 0) fail("cannot be flushed");
    if (::rename(path_.c_str(), place_.c_str()) != 0) fail("cannot be put into place");
    placed_ = true;
    flush_folder();
  }

 private:
  // Two threads, or two processes, may write the same place: the last one wins with a whole file.
  static std::string unique_ending() {
    static std::atomic<int> count{0};
    return text(".tmp.", ::getpid(), ".", ++count);
  }
  // So that the new name, too, outlives a loss of power. Not every file system can; the file is whole without it.
  void flush_folder() const {
    const std::filesystem::path parent = std::filesystem::path(place_).parent_path();
    const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    ::fsync(folder);
    ::close(folder);
  }
  [[noreturn]] void fail(const char* what) const {
    const std::string reason = std::strerror(errno);
    throw FileError(text("write_safetensors: ", place_, " ", what, ": ", reason,
                         "; check the folder, its permissions and the space on the disk"));
  }

  std::string place_, path_;
  int file_ = -1;
  bool placed_ = false;
};

}  // namespace

void write_safetensors(const std::string& path, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = header_of(tensors, metadata);
  TemporaryFile file(path);
  const std::uint64_t length = header.size();
  file.write(&length, sizeof length);
  file.write(header.data(), header.size());
  for (const auto& entry : tensors)
    dispatch_any(entry.second.dtype(), [&](auto zero) {
      const auto values = entry.second.values<decltype(zero)>();
      file.write(values.data(), values.size_bytes());
    });
  file.put_into_place();
}

}  // namespace retrace
