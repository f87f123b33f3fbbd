#include <retrace/core/base/printable.h>
#include <retrace/core/files/json.h>
#include <retrace/core/files/safetensors_header.h>
#include <retrace/core/files/safetensors_index.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <utility>

namespace retrace {
namespace {

// Collects the entries of weight_map and passes over all others.
class IndexReader final : public JsonEvents {
 public:
  explicit IndexReader(const std::string& path) : path_(path) {}

  std::map<std::string, std::set<std::string>> names_in_file;
  bool has_map = false;

  void start_object() override {
    not_a_file();
    if (++depth_ != 2 || key_ != "weight_map") return;
    if (std::exchange(has_map, true)) refuse_safetensors_index(path_, "it has weight_map twice");
    in_map_ = true;
  }
  void key(std::string key) override { key_ = std::move(key); }
  void end_object() override {
    --depth_;
    in_map_ = false;
  }
  void start_array() override { not_a_file(), ++depth_; }
  void end_array() override { --depth_; }
  void string(std::string file) override {
    if (!in_map_) return;
    if (!names_.insert(key_).second)
      refuse_safetensors_index(path_, text("it names tensor ", printable(key_), " twice"));
    names_in_file[std::move(file)].insert(key_);
  }
  void unsigned_integer(std::uint64_t) override { not_a_file(); }
  void number(double) override { not_a_file(); }
  void boolean(bool) override { not_a_file(); }
  void null() override { not_a_file(); }

 private:
  void not_a_file() const {
    if (in_map_)
      refuse_safetensors_index(path_, text("tensor ", printable(key_), " of its weight_map has no name of a file"));
  }
  const std::string& path_;
  std::string key_;
  std::set<std::string> names_;
  int depth_ = 0;
  bool in_map_ = false;
};

std::string read_index_text(const std::string& path) {
  std::error_code failure;
  const std::uint64_t size = std::filesystem::file_size(path, failure);
  if (failure) throw FileError(text("read_safetensors: ", path, ": ", failure.message(), "; check the path"));
  if (size > max_safetensors_header)
    refuse_safetensors_index(path, text("it has ", size, " bytes, and an index of more than ", max_safetensors_header,
                                        " bytes is not read"));
  std::string result(size, '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(result.data(), static_cast<std::streamsize>(size)))
    throw FileError(text("read_safetensors: ", path, ": cannot be read; check the permissions"));
  return result;
}

// The path of a file of the index. No name leads to a file elsewhere on this machine, or to another index.
std::string path_beside(const std::string& index, const std::string& file) {
  const std::filesystem::path relative(file);
  const bool stays = relative.is_relative() && std::ranges::find(relative, "..") == relative.end();
  if (!stays || !file.ends_with(".safetensors") || printable(file) != file)
    refuse_safetensors_index(index, text("it names the file ", printable(file),
                                         ", which is not a .safetensors file in its folder or below"));
  return (std::filesystem::path(index).parent_path() / relative).string();
}

}  // namespace

bool is_safetensors_index(const std::string& path) { return path.ends_with(".index.json"); }

std::map<std::string, std::set<std::string>> read_safetensors_index(const std::string& path) {
  IndexReader index(path);
  try {
    read_json(read_index_text(path), index);
  } catch (const JsonError& error) {
    refuse_safetensors_index(path, text("byte ", error.position() + 1, " is not JSON"));
  }
  if (!index.has_map) refuse_safetensors_index(path, "it has no object weight_map");
  std::map<std::string, std::set<std::string>> result;
  for (auto& [file, names] : index.names_in_file) result[path_beside(path, file)].merge(names);
  return result;
}

void refuse_safetensors_index(const std::string& path, const std::string& what) {
  throw FileError(text("read_safetensors: ", path, ": ", what,
                       "; an index names every tensor of its files, which lie beside it: get all of them anew"));
}

}  // namespace retrace
