// Leaves of a tape, weights and constants, as constants of a graph.
#include <algorithm>
#include <cstring>

#include <retrace/core/base/error.h>
#include <retrace/models/onnx/call.h>
#include <retrace/ops/ops.h>

namespace retrace::onnx {
namespace {

bool are_same(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape() || a.dtype() != b.dtype()) return false;
  return dispatch_any(a.dtype(), [&]<class T>(T) {
    const T *one = a.values<T>().data(), *other = b.values<T>().data();
    return one == other || std::memcmp(one, other, a.values<T>().size_bytes()) == 0;
  });
}

/// x[:, ..., 0:length].
Tensor beginning(const Tensor& x, int axis, std::int64_t length) {
  std::vector<SliceIndex> index(static_cast<std::size_t>(axis), all);
  index.push_back(range(0, length));
  return slice(x, index);
}

/// Whether all steps along the axis are the first one again.
bool repeats(const Tensor& x, int axis) {
  return x.dim(axis) > 0 && are_same(x, broadcast_to(beginning(x, axis, 1), x.shape()));
}

}  // namespace

std::string build_leaf(Builder& build, const Tensors& in_runs, std::string_view name, const std::string& what) {
  const auto refuse = [&](const char* why) {
    throw ValueError(text("export_onnx: ", what, " ", in_runs[0].shape(), why));
  };
  if (!are_same(in_runs.front(), in_runs.back()))
    refuse(
        " is not on the tape, but changes with the values of the inputs (a mask, ids or a comparison, say); make it "
        "an input, or compute it by recorded ops from inputs that are not i64");
  std::vector<Lengths> axes(static_cast<std::size_t>(in_runs[0].rank()));
  for (const Tensor& x : in_runs) {
    if (x.rank() != in_runs[0].rank()) refuse(" has another number of axes at other lengths of the inputs");
    for (std::size_t axis = 0; axis < axes.size(); ++axis) axes[axis].push_back(x.dim(static_cast<int>(axis)));
  }
  Tensors stored = in_runs;
  std::vector<std::int64_t> cut;
  std::vector<Lengths> cut_lengths;
  bool is_repeated = false;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    if (is_fixed(axes[k])) continue;
    const int axis = static_cast<int>(k);
    if (std::ranges::all_of(stored, [&](const Tensor& x) { return repeats(x, axis); })) {
      for (Tensor& x : stored) x = beginning(x, axis, 1);
      is_repeated = true;
    } else {
      cut.push_back(axis);
      cut_lengths.push_back(axes[k]);
    }
  }
  for (const Tensor& x : stored) {
    Tensor part = stored.front();
    for (const std::int64_t axis : cut)
      if (x.dim(static_cast<int>(axis)) <= part.dim(static_cast<int>(axis)))
        part = beginning(part, static_cast<int>(axis), x.dim(static_cast<int>(axis)));
    if (!are_same(part, x)) refuse(" changes with the lengths of the inputs; fix the axes of the inputs");
  }
  std::string value = build.constant(stored.front(), name);
  if (!cut.empty())
    value = build.node("Slice", {value, build.integers(std::vector<std::int64_t>(cut.size())), build.shape(cut_lengths),
                                 build.integers(cut)});
  return is_repeated ? build.node("Expand", {value, build.shape(axes)}) : value;
}

}  // namespace retrace::onnx
