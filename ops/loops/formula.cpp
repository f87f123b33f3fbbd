#include <cstdlib>

#include <retrace/ops/op.h>

namespace retrace {
namespace {

// The positions first, first + step, ... of an axis, in Python's notation.
std::string range_text(std::int64_t first, std::int64_t count, std::int64_t step, std::int64_t extent) {
  if (count == extent && step == 1) return ":";
  const std::int64_t stop = first + (count - 1) * step + (step > 0 ? 1 : -1);
  const std::string from_to = text(first, ":", stop < 0 ? "" : text(stop));
  return step == 1 ? from_to : text(from_to, ":", step);
}

// Whether `count` elements, `stride` apart, lie along an axis of this extent and stride.
bool walks_along(std::int64_t count, std::int64_t stride, std::int64_t extent, std::int64_t axis_stride) {
  if (count == 1) return stride == axis_stride;
  return std::abs(stride) >= axis_stride && std::abs(stride) < axis_stride * extent;
}

}  // namespace

std::string as_factor(double number) {
  const std::string digits = text(number);
  return std::signbit(number) ? text("(", digits, ")") : digits;
}

std::string along_axis(int axis) { return text(" along axis ", axis); }

std::string along_axes(const std::array<bool, max_rank>& flags, int rank) {
  const auto count = std::count(flags.begin(), flags.begin() + rank, true);
  if (count == rank) return "";
  if (count == 0) return " along no axis";
  std::string list;
  for (int axis = 0; axis < rank; ++axis)
    if (flags[static_cast<std::size_t>(axis)]) list += text(list.empty() ? "" : " and ", axis);
  return text(" along ", count == 1 ? "axis " : "axes ", list);
}

std::string sum_over_rows(const std::string& product, int rank, int last_axes) {
  if (rank == last_axes) return product;
  std::array<bool, max_rank> rows{};
  std::fill(rows.begin(), rows.begin() + (rank - last_axes), true);
  return text("sum ", product, along_axes(rows, rank));
}

std::string index_letter(int axis) { return std::string(1, static_cast<char>('i' + axis)); }

std::string index_letters(int rank) { return index_letters(rank, -1, ""); }

std::string index_letters(int rank, int axis, const std::string& position) {
  std::string result;
  for (int k = 0; k < rank; ++k) result += (k == 0 ? "" : ", ") + (k == axis ? position : index_letter(k));
  return result;
}

std::string index_of_part(const Shape& whole, const Shape& part, const Strided& place) {
  if (whole.numel() == 0 || part.numel() == 0) return "...";
  const auto strides = whole.strides();
  std::string result;
  const auto append = [&](const std::string& entry) { result += (result.empty() ? "" : ", ") + entry; };
  std::int64_t rest = place.offset;
  int axis = 0;
  const auto next_position = [&] {
    const std::int64_t stride = strides[static_cast<std::size_t>(axis++)], position = rest / stride;
    rest %= stride;
    return position;
  };
  for (int kept = 0; kept < part.rank(); ++kept) {
    const std::int64_t count = part[kept], stride = place.strides[static_cast<std::size_t>(kept)];
    if (stride == 0) {
      append("new");
      continue;
    }
    while (axis < whole.rank() && !walks_along(count, stride, whole[axis], strides[static_cast<std::size_t>(axis)]))
      append(text(next_position()));
    if (axis == whole.rank()) return "...";
    const std::int64_t extent = whole[axis], step = count == 1 ? 1 : stride / strides[static_cast<std::size_t>(axis)];
    append(range_text(next_position(), count, step, extent));
  }
  while (axis < whole.rank()) append(text(next_position()));
  return result.empty() ? "..." : result;
}

Formulas part_formulas(const Record& r) {
  const std::string index = index_of_part(r.in(0).shape, r.out(0).shape, r.attributes<Strided>());
  return {text("y = x[", index, "]"), text("dx[", index, "] += dy")};
}

AttributeList with_zeros(AttributeList list, Zeros zeros) {
  if (zeros == Zeros::strong) list.push_back({"zeros", "strong"});
  return list;
}

}  // namespace retrace
