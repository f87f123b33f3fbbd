#include <retrace/core/base/error.h>
#include <retrace/models/data/npy_format.h>
#include <retrace/models/data/npy_values.h>

#include <algorithm>
#include <charconv>
#include <istream>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace retrace {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t alignment = 64;  // of the first value, in the file

[[noreturn]] void refuse(const std::string& who, const std::string& what) { throw FileError(text(who, ": ", what)); }
[[noreturn]] void refuse_damaged(const std::string& who, const std::string& what) {
  refuse(who, what + "; the file is damaged or of another format: write it anew with numpy.save");
}

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

/// Reads {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, its keys in any order.
class HeaderReader {
 public:
  HeaderReader(const std::string& who, std::string_view text) : who_(who), text_(text) {}

  Header read() {
    expect('{');
    while (!accept('}')) {
      entry();
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    if (at_ != text_.size()) fail("something follows the dictionary");
    if (!header_.descr || !header_.fortran_order || !header_.shape) fail("descr, fortran_order or shape is missing");
    return header_;
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    refuse_damaged(who_, text("byte ", at_, " of the header: ", what));
  }
  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(text("a '", std::string(1, c), "' is missing"));
  }
  bool accept_word(std::string_view word) {
    skip_spaces();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void entry() {
    const std::string key = string();
    expect(':');
    if (key == "descr" && !header_.descr)
      header_.descr = type();
    else if (key == "fortran_order" && !header_.fortran_order)
      header_.fortran_order = boolean();
    else if (key == "shape" && !header_.shape)
      header_.shape = shape();
    else
      fail(text("the key '", key, "' is unknown or comes twice"));
  }
  std::string string() {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) fail("a string is missing");
    const std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }
  std::string type() {
    if (accept('[')) refuse(who_, "the array has named fields; save each of them as an array of its own");
    return string();
  }
  bool boolean() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) fail("True or False is missing");
    return false;
  }
  Shape shape() {
    std::vector<std::int64_t> extents;
    expect('(');
    while (!accept(')')) {
      extents.push_back(extent());
      if (extents.size() > max_rank) fail(text("there are more than ", max_rank, " axes"));
      if (accept(',')) continue;
      expect(')');
      if (extents.size() == 1) fail("a shape of one axis is written (n,)");
      break;
    }
    std::int64_t product = 1;  // also for an empty array: its other extents must not overflow
    for (const std::int64_t extent : extents) {
      if (extent > max_elements / product) fail("the axes multiply to more than memory holds");
      if (extent > 0) product *= extent;
    }
    return Shape{std::span<const std::int64_t>(extents)};
  }
  std::int64_t extent() {
    skip_spaces();
    std::int64_t result = 0;
    const char* begin = text_.data() + at_;
    const auto [end, failure] = std::from_chars(begin, text_.data() + text_.size(), result);
    if (failure != std::errc{} || result < 0 || result > max_elements) fail("an axis has no length that can be");
    at_ += static_cast<std::size_t>(end - begin);
    return result;
  }

  const std::string& who_;
  std::string_view text_;
  std::size_t at_ = 0;
  Header header_;
};

const char* descr_of(Dtype dtype) { return dtype == f32 ? "<f4" : dtype == f64 ? "<f8" : "<i8"; }

/// The bytes of an array, and how many of them are left.
class Input {
 public:
  Input(std::istream& bytes, std::uint64_t count, const std::string& who) : who_(who), bytes_(bytes), left_(count) {}
  std::uint64_t left() const { return left_; }
  void read(void* to, std::uint64_t count, const char* what) {
    if (count > left_) refuse_damaged(who_, text("it ends within ", what));
    bytes_.read(static_cast<char*>(to), static_cast<std::streamsize>(count));
    if (!bytes_) refuse(who_, "cannot be read; try again");
    left_ -= count;
  }
  std::string text_of(std::uint64_t count, const char* what) {
    if (count > left_) refuse_damaged(who_, text("it ends within ", what));
    std::string result(count, '\0');
    read(result.data(), count, what);
    return result;
  }

 private:
  const std::string& who_;
  std::istream& bytes_;
  std::uint64_t left_;
};

std::string read_header(Input& file, const std::string& who) {
  if (file.text_of(magic.size(), "the first 6 bytes") != magic)
    refuse_damaged(who, "it does not begin as an .npy file");
  unsigned char version[2];
  file.read(version, sizeof version, "the version");
  if (version[0] < 1 || version[0] > 3 || version[1] != 0)
    refuse(who, text("the version of the format is ", int{version[0]}, ".", int{version[1]},
                     ", and 1.0, 2.0 and 3.0 are read; write it anew with numpy.save"));
  std::uint32_t length = 0;  // its lower bytes come first
  file.read(&length, version[0] == 1 ? 2 : 4, "the length of the header");
  return file.text_of(length, "the header");
}

}  // namespace

Tensor read_npy_array(std::string bytes, const std::string& who) {
  const std::uint64_t count = bytes.size();
  std::istringstream stream(std::move(bytes));
  return read_npy_array(stream, count, who);
}

Tensor read_npy_array(std::istream& bytes, std::uint64_t count, const std::string& who) {
  Input file(bytes, count, who);
  const std::string text_of_header = read_header(file, who);
  const Header header = HeaderReader(who, text_of_header).read();
  const NpyType& type = npy_type(*header.descr, who);
  const std::int64_t elements = header.shape->numel();
  if (elements > max_elements || static_cast<std::uint64_t>(elements) * type.bytes != file.left())
    refuse_damaged(who, text("an array ", *header.shape, " of '", *header.descr, "' does not fill the ", file.left(),
                             " bytes after the header"));
  Tensor result = empty(*header.shape, type.dtype);
  NpyPlaces places(*header.shape, *header.fortran_order);
  constexpr std::uint64_t most = 65536;
  while (file.left() > 0) {
    const std::string part = file.text_of(std::min(file.left(), most), "the values");
    type.convert(part, header.descr->starts_with('>'), places, result, who);
  }
  return result;
}

std::string npy_header(const Tensor& x, const std::string& who) {
  if (!x.defined() || !x.has_values()) throw ValueError(text(who, ": the tensor has no values; assign one first"));
  if (x.dtype() == dual)
    throw DtypeError(text(who, ": ", x, " is dual, which the format does not know; write it as f64"));
  std::string shape;
  for (const std::int64_t extent : x.shape()) shape += text(shape.empty() ? "" : ", ", extent);
  if (x.rank() == 1) shape += ',';
  std::string header = text("{'descr': '", descr_of(x.dtype()), "', 'fortran_order': False, 'shape': (", shape, "), }");
  const std::size_t before = magic.size() + 2 + 2;
  header.append(alignment - 1 - (before + header.size()) % alignment, ' ');
  header += '\n';
  const std::size_t length = header.size();  // below 300: eight axes of at most 19 digits
  std::string result(magic);
  result += {'\x01', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return result + header;
}

}  // namespace retrace
