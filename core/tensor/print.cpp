// Tensors as text: name, dtype, shape, and the values in columns.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ostream>
#include <vector>

#include <retrace/core/tensor/tensor.h>

namespace retrace {
namespace {

constexpr std::int64_t max_elements_shown = 1000;
constexpr std::int64_t edge = 3;  // entries shown at either end of a shortened axis
constexpr std::size_t line_length = 100;

std::string element(double value) { return to_text(value); }
std::string element(float value) { return element(static_cast<double>(value)); }
std::string element(std::int64_t value) { return std::to_string(value); }
std::string element(Dual value) {
  const bool negative = std::signbit(value.tangent) && !std::isnan(value.tangent);
  return text(element(value.value), negative ? "-" : "+", element(std::abs(value.tangent)), "e");
}

// Positions along an axis; -1 stands for those left out.
std::vector<std::int64_t> shown(std::int64_t extent, bool shorten) {
  std::vector<std::int64_t> result;
  for (std::int64_t k = 0; k < extent; ++k) {
    if (shorten && extent > 2 * edge && k == edge) {
      result.push_back(-1);
      k = extent - edge;
    }
    result.push_back(k);
  }
  return result;
}

template <class T> class Printer {
 public:
  explicit Printer(const Tensor& x)
      : x_(x), values_(x.values<T>()), strides_(x.shape().strides()), shorten_(x.numel() > max_elements_shown) {
    measure(0, 0);
  }
  void print(std::string& out, int axis = 0, std::int64_t offset = 0) const {
    if (axis == x_.rank()) {
      const std::string number = element(values_[static_cast<std::size_t>(offset)]);
      out.append(width_ - number.size(), ' ').append(number);
      return;
    }
    out += '[';
    std::size_t count = 0;
    for (const std::int64_t k : shown(x_.dim(axis), shorten_)) {
      if (count > 0) separate(out, axis, count);
      ++count;
      if (k < 0)
        out += "...";
      else
        print(out, axis + 1, offset + k * strides_[static_cast<std::size_t>(axis)]);
    }
    out += ']';
  }

 private:
  // Between neighbours along an axis: blank lines set matrices apart, and a long row goes on below.
  void separate(std::string& out, int axis, std::size_t count) const {
    const std::size_t indent = static_cast<std::size_t>(axis) + 1,
                      inner_axes = static_cast<std::size_t>(x_.rank()) - indent;
    const std::size_t in_a_line = std::max<std::size_t>(1, (line_length - indent) / (width_ + 2));
    if (inner_axes == 0 && count % in_a_line != 0) {
      out += ", ";
      return;
    }
    out.append(",").append(std::max<std::size_t>(1, inner_axes), '\n').append(indent, ' ');
  }
  void measure(int axis, std::int64_t offset) {
    if (axis == x_.rank()) {
      width_ = std::max(width_, element(values_[static_cast<std::size_t>(offset)]).size());
      return;
    }
    for (const std::int64_t k : shown(x_.dim(axis), shorten_))
      if (k >= 0) measure(axis + 1, offset + k * strides_[static_cast<std::size_t>(axis)]);
  }

  const Tensor& x_;
  std::span<const T> values_;
  std::array<std::int64_t, max_rank> strides_;
  bool shorten_;
  std::size_t width_ = 0;
};

}  // namespace

std::ostream& operator<<(std::ostream& out, Dual a) { return out << element(a); }

std::ostream& operator<<(std::ostream& out, const Tensor& x) {
  if (!x.defined()) return out << "undefined tensor\n";
  std::string result = x.name().empty() ? std::string() : text(x.name(), " ");
  result += text(x.dtype(), x.shape(), "\n");
  if (!x.has_values())
    result += "(values given back: only a tape refers to it)";
  else if (x.numel() > 0)
    dispatch_any(x.dtype(), [&](auto zero) { Printer<decltype(zero)>(x).print(result); });
  else
    result += "(empty)";
  return out.write(result.data(), static_cast<std::streamsize>(result.size())).put('\n');
}

}  // namespace retrace
