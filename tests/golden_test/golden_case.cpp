#include <retrace/tests/golden_test/golden_case.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include <retrace/core/files/safetensors.h>

namespace retrace::golden {
namespace {

template <class Number> Number parsed(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) throw Unsupported("no number: \"" + text + "\"");
  return number;
}

// A copy: an optimiser may change a case's inputs.
Tensor in_dtype(const Tensor& x, Dtype dtype) { return x.dtype() == i64 ? x : x.to(dtype).clone(); }

// The part of `text` behind a prefix; null if it does not begin with it.
const char* behind(const std::string& text, const std::string& prefix) {
  return text.starts_with(prefix) ? text.c_str() + prefix.size() : nullptr;
}

NamedTensors tensors_below(const SafetensorsFile& file, const std::string& prefix) {
  NamedTensors result;
  for (auto entry = file.tensors.lower_bound(prefix); entry != file.tensors.end(); ++entry) {
    const char* name = behind(entry->first, prefix);
    if (name == nullptr) break;
    result.emplace(name, entry->second);
  }
  return result;
}

GoldenCase read_case(const SafetensorsFile& file, const std::string& stem, const std::string& name) {
  const auto metadata = [&](const char* key, const char* otherwise) {
    const auto entry = file.metadata.find(name + "/" + key);
    return entry == file.metadata.end() ? std::string(otherwise) : entry->second;
  };
  GoldenCase result;
  result.file = stem;
  result.name = name;
  result.op = metadata("op", "");
  result.note = metadata("note", "");
  result.rtol = to_number(metadata("rtol", "1e-9"));
  result.atol = to_number(metadata("atol", "1e-11"));
  result.exact_in_f32 = metadata("f32_exact_inputs", "0") == "1";
  for (const auto& [key, value] : file.metadata)
    if (const char* attribute = behind(key, name + "/attr/")) result.attributes.emplace(attribute, value);
  result.inputs = tensors_below(file, name + "/in/");
  result.inputs.merge(tensors_below(file, name + "/param/"));
  result.constants = tensors_below(file, name + "/const/");
  result.outputs = tensors_below(file, name + "/out/");
  result.cotangents = tensors_below(file, name + "/grad_out/");
  result.gradients = tensors_below(file, name + "/grad/");
  return result;
}

}  // namespace

Arguments::Arguments(const GoldenCase& golden, Dtype dtype) : golden_(golden), dtype_(dtype) {
  for (const auto& [name, value] : golden.inputs) inputs_.emplace(name, parameter(in_dtype(value, dtype), name));
  for (const auto& [name, value] : golden.constants) constants_.emplace(name, in_dtype(value, dtype));
}

const Shape& Arguments::output_shape(const std::string& name) const {
  const auto entry = golden_.outputs.find(name);
  if (entry == golden_.outputs.end()) throw Unsupported("no output " + name);
  return entry->second.shape();
}

const Tensor& Arguments::operator[](const std::string& name) const { return first({name.c_str()}); }

Tensor Arguments::optional(const std::string& name) const { return has(name) ? (*this)[name] : Tensor(); }

const Tensor& Arguments::first(std::initializer_list<const char*> names) const {
  for (const char* name : names) {
    if (const auto input = inputs_.find(name); input != inputs_.end()) return input->second;
    if (const auto constant = constants_.find(name); constant != constants_.end()) return constant->second;
  }
  throw Unsupported(std::string("no tensor ") + *names.begin());
}

Tensors Arguments::numbered(const std::string& prefix) const {
  Tensors result;
  for (int k = 0; has(text(prefix, k)); ++k) result.push_back((*this)[text(prefix, k)]);
  return result;
}

const std::string& Arguments::attribute(const std::string& key) const {
  const auto entry = golden_.attributes.find(key);
  if (entry == golden_.attributes.end()) throw Unsupported("no attribute " + key);
  return entry->second;
}

std::string Arguments::attribute(const std::string& key, const std::string& otherwise) const {
  return has_attribute(key) ? attribute(key) : otherwise;
}

double Arguments::number(const std::string& key) const { return to_number(attribute(key)); }
double Arguments::number(const std::string& key, double otherwise) const {
  return has_attribute(key) ? number(key) : otherwise;
}
std::int64_t Arguments::integer(const std::string& key) const { return to_integer(attribute(key)); }
std::int64_t Arguments::integer(const std::string& key, std::int64_t otherwise) const {
  return has_attribute(key) ? integer(key) : otherwise;
}

std::vector<std::int64_t> Arguments::integers(const std::string& key) const {
  std::vector<std::int64_t> result;
  for (const std::string& part : split_text(attribute(key), ',')) result.push_back(to_integer(part));
  return result;
}

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

double to_number(const std::string& text) { return parsed<double>(text); }
std::int64_t to_integer(const std::string& text) { return parsed<std::int64_t>(text); }

std::vector<GoldenCase> read_cases(const std::string& path) {
  const SafetensorsFile file = read_safetensors(path);
  const auto names = file.metadata.find("cases");
  if (names == file.metadata.end())
    throw FileError(path + ": its metadata has no list of cases; it is no reference data");
  std::vector<GoldenCase> cases;
  for (const std::string& name : split_text(names->second, ','))
    cases.push_back(read_case(file, std::filesystem::path(path).stem().string(), name));
  return cases;
}

}  // namespace retrace::golden
