// One case of the reference data: an op, its attributes, its inputs and the expected results (tests/golden/INDEX.md).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace::golden {

using NamedTensors = std::map<std::string, Tensor>;

/// A case that no adapter can run: it counts as skipped.
class Unsupported : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A case as stored in the file.
struct GoldenCase {
  std::string file;
  std::string name;
  std::string op;
  std::string note;
  double rtol = 0;
  double atol = 0;
  bool exact_in_f32 = false;
  std::map<std::string, std::string> attributes;
  NamedTensors inputs;      // in/ and param/
  NamedTensors constants;   // const/
  NamedTensors outputs;     // out/
  NamedTensors cotangents;  // grad_out/
  NamedTensors gradients;   // grad/
};

/// A case as an adapter sees it: its inputs in one dtype, as leaves that want a gradient, and its attributes.
class Arguments {
 public:
  Arguments(const GoldenCase& golden, Dtype dtype);

  const std::string& case_name() const { return golden_.name; }
  Dtype dtype() const { return dtype_; }
  /// The shape that an output must have.
  const Shape& output_shape(const std::string& name) const;
  /// The leaves: in/ and param/.
  const NamedTensors& inputs() const { return inputs_; }

  bool has(const std::string& name) const { return inputs_.contains(name) || constants_.contains(name); }
  /// An input, parameter or constant. Throws Unsupported if the case has none of that name.
  const Tensor& operator[](const std::string& name) const;
  /// An input, parameter or constant; undefined if the case has none of that name.
  Tensor optional(const std::string& name) const;
  /// The tensor of the first name that the case has: {"q", "x"} if one tensor may stand for several.
  const Tensor& first(std::initializer_list<const char*> names) const;
  /// prefix0, prefix1, ... up to the last one that exists.
  Tensors numbered(const std::string& prefix) const;

  bool has_attribute(const std::string& key) const { return golden_.attributes.contains(key); }
  /// Throws Unsupported if the case has no such attribute.
  const std::string& attribute(const std::string& key) const;
  std::string attribute(const std::string& key, const std::string& otherwise) const;
  double number(const std::string& key) const;
  double number(const std::string& key, double otherwise) const;
  std::int64_t integer(const std::string& key) const;
  std::int64_t integer(const std::string& key, std::int64_t otherwise) const;
  int axis(const std::string& key = "axis") const { return static_cast<int>(integer(key)); }
  bool flag(const std::string& key) const { return integer(key, 0) != 0; }
  /// "2,0,1"; an empty text has no entries.
  std::vector<std::int64_t> integers(const std::string& key) const;

 private:
  const GoldenCase& golden_;
  Dtype dtype_;
  NamedTensors inputs_;
  NamedTensors constants_;
};

/// The parts of a text between separators; none of an empty text.
std::vector<std::string> split_text(std::string_view text, char separator);
/// Throws Unsupported if the text is not a number.
double to_number(const std::string& text);
std::int64_t to_integer(const std::string& text);

/// All cases of a safetensors file, in its order. Throws FileError.
std::vector<GoldenCase> read_cases(const std::string& path);

}  // namespace retrace::golden
