// A file of weights of which a bit has changed, or that ends too early, is refused.
#include <retrace/models/checks/selfcheck/figure.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include <retrace/core/base/error.h>
#include <retrace/core/files/safetensors.h>
#include <retrace/core/tensor/random.h>

namespace retrace {
namespace {

namespace fs = std::filesystem;

/// A folder until the end of the block.
class OwnFolder {
 public:
  OwnFolder() : path_(fs::temp_directory_path() / text("retrace-selfcheck-", Random(start()).bits64())) {
    fs::create_directories(path_);
  }
  OwnFolder(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  fs::path file() const { return path_ / "weights.safetensors"; }

 private:
  static std::uint64_t start() {
    return static_cast<std::uint64_t>(fs::file_time_type::clock::now().time_since_epoch().count());
  }
  fs::path path_;
};

std::string bytes_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

bool is_refused(const fs::path& file) {
  try {
    read_safetensors(file.string());
    return false;
  } catch (const FileError&) {
    return true;
  }
}

void count(Figure& figure, const fs::path& file, const std::string& damaged, const std::string& how) {
  write(file, damaged);
  ++figure.count;
  if (is_refused(file)) return;
  ++figure.worst;
  figure.failures.push_back(how);
}

}  // namespace

std::vector<Figure> check_files() {
  const OwnFolder folder;
  Random random(3);
  write_safetensors(folder.file().string(), {{"bias", random.normal({4}, f64)}, {"weight", random.normal({4, 3}, f32)}},
                    {{"model", "linear"}});
  const std::string whole = bytes_of(folder.file());
  Figure bits{"files", "bits that change, not noticed"}, ends{"files", "ends that are missing, not noticed"};
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      count(bits, folder.file(), damaged, text("bit ", bit, " of byte ", at));
    }
    count(ends, folder.file(), whole.substr(0, at), text("a file that ends after ", at, " bytes"));
  }
  write(folder.file(), whole);
  if (is_refused(folder.file())) bits.failures.push_back("the whole file is refused, too");
  return {bits, ends};
}

}  // namespace retrace
