// Ops that move elements.
#include <algorithm>
#include <cstdlib>
#include <limits>

#include <retrace/models/onnx/operators.h>
#include <retrace/ops/ops.h>

namespace retrace::onnx {
namespace {

constexpr std::int64_t before_first = std::numeric_limits<std::int64_t>::min();

/// What a slice takes of an axis of x.
struct AxisPart {
  std::int64_t first = 0, count = 1, step = 1;
};

/// The parts of all axes of x, from the place of y's elements in its memory. Nothing for what is no slice.
std::vector<AxisPart> parts_of(const Shape& x, const Shape& y, std::int64_t offset,
                               const std::vector<std::int64_t>& strides) {
  const auto of_x = x.strides();
  std::vector<AxisPart> parts(static_cast<std::size_t>(x.rank()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (x[static_cast<int>(i)] <= 1) continue;
    parts[i].first = offset / of_x[i];
    offset %= of_x[i];
  }
  std::size_t next = 0;  // axes keep their order
  for (std::size_t j = 0; j < strides.size(); ++j) {
    const std::int64_t count = y[static_cast<int>(j)], stride = std::abs(strides[j]);
    if (count == 1) continue;
    for (;; ++next) {
      if (next == parts.size()) return {};
      if (x[static_cast<int>(next)] > 1 && of_x[next] <= stride && stride < of_x[next] * x[static_cast<int>(next)])
        break;
    }
    if (stride % of_x[next] != 0) return {};
    parts[next].count = count;
    parts[next].step = strides[j] / of_x[next];
    ++next;
  }
  return parts;
}

/// x[first, first + step, ...] along an axis, `count` elements.
struct RangeInRuns {
  Lengths first, end, count;
  std::int64_t step = 1;
};

void add_part(const Call& call, const AxisPart& part, RangeInRuns& range) {
  if (!range.first.empty() && range.step != part.step) call.fail("its step changes with the lengths of the inputs");
  range.step = part.step;
  range.first.push_back(part.first);
  range.count.push_back(part.count);
  const std::int64_t end = part.first + part.step * (part.count - 1) + (part.step > 0 ? 1 : -1);
  range.end.push_back(end < 0 ? before_first : end);
}

void build_slice(const Call& call) {
  std::vector<RangeInRuns> ranges(static_cast<std::size_t>(call.rank(0)));
  for (std::size_t run = 0; run < call.runs(); ++run) {
    const auto parts = parts_of(call.in_shape(0, run), call.out_shape(0, run), call.each_integer("offset")[run],
                                call.integers("strides", run));
    if (parts.size() != ranges.size()) call.fail("it takes elements in an order that no slice has");
    for (std::size_t axis = 0; axis < parts.size(); ++axis) add_part(call, parts[axis], ranges[axis]);
  }
  std::vector<Lengths> first, end, kept;
  std::vector<std::int64_t> axes, steps;
  for (std::size_t axis = 0; axis < ranges.size(); ++axis) {
    const RangeInRuns& range = ranges[axis];
    kept.push_back(range.count);
    if (range.count == call.length(0, static_cast<int>(axis)) && range.step == 1) continue;
    axes.push_back(static_cast<std::int64_t>(axis));
    first.push_back(range.first), end.push_back(range.end), steps.push_back(range.step);
  }
  Builder& b = call.build;
  std::string y = call.in(0);
  if (!axes.empty()) y = b.node("Slice", {y, b.shape(first), b.shape(end), b.integers(axes), b.integers(steps)});
  call.result(kept == call.out_lengths() ? y : b.node("Reshape", {y, b.shape(call.out_lengths())}));
}

void build_flip(const Call& call) {
  Builder& b = call.build;
  call.result(b.node("Slice", {call.in(0), b.integers({-1}), b.integers({before_first}),
                               b.integers({call.integer("axis")}), b.integers({-1})}));
}

void build_pad(const Call& call) {
  std::vector<Lengths> pads(static_cast<std::size_t>(2 * call.rank(0)));
  for (std::size_t run = 0; run < call.runs(); ++run) {
    const std::vector<std::int64_t> before = call.integers("before", run);
    for (std::size_t axis = 0; axis < before.size(); ++axis) {
      const int k = static_cast<int>(axis);
      pads[axis].push_back(before[axis]);
      pads[before.size() + axis].push_back(call.out_shape(0, run)[k] - call.in_shape(0, run)[k] - before[axis]);
    }
  }
  call.result(call.build.node("Pad", {call.in(0), call.build.shape(pads)}));
}

void build_triangle(const Call& call) {
  const Lengths diagonal = call.each_integer("diagonal");
  const std::string k = call.build.node("Reshape", {call.build.length(diagonal), call.build.integers({})});
  call.result(call.build.node("Trilu", {call.in(0), k}, {{"upper", std::int64_t{call.op() == "triu"}}}));
}

/// Whether the ids are those by which reverse_time(x, lengths) turns the steps of x [B, T, ...] around, for that input.
bool reverse_time_by(const Tensor& ids, const Tensor& lengths) {
  if (lengths.dtype() != i64 || lengths.rank() != 1 || lengths.numel() == 0 || ids.numel() % lengths.numel() != 0)
    return false;
  const std::int64_t time = ids.numel() / lengths.numel();
  const auto place = ids.values<std::int64_t>(), length = lengths.values<std::int64_t>();
  for (std::int64_t row = 0; row < ids.numel(); ++row) {
    const std::int64_t t = row % time, of_sample = length[static_cast<std::size_t>(row / time)];
    if (place[static_cast<std::size_t>(row)] != row - t + (t < of_sample ? of_sample - 1 - t : t)) return false;
  }
  return true;
}

/// take of the rows [B T, F] that reverse_time reads, as ReverseSequence. Returns whether it is one.
bool build_reversed_time(const Call& call) {
  const Tensors ids = call.leaves(1);
  if (call.integer("axis") != 0 || call.rank(0) != 2 || !ids.front().defined() || ids.front().rank() != 1) return false;
  for (std::size_t input = 0; input < call.traced().input_names.size(); ++input) {
    Lengths batch, time;
    for (std::size_t run = 0; run < call.runs(); ++run) {
      const Tensor& lengths = call.traced().runs[run].inputs[input];
      if (!reverse_time_by(ids[run], lengths)) break;
      batch.push_back(lengths.numel());
      time.push_back(ids[run].numel() / lengths.numel());
    }
    if (batch.size() < call.runs()) continue;
    Builder& b = call.build;
    const std::string rows = b.node("Reshape", {call.in(0), b.shape({batch, time, call.length(0, 1)})});
    const std::string reversed = b.node("ReverseSequence", {rows, call.traced().input_names[input]},
                                        {{"batch_axis", std::int64_t{0}}, {"time_axis", std::int64_t{1}}});
    call.result(b.node("Reshape", {reversed, b.shape(call.out_lengths())}));
    return true;
  }
  return false;
}

void build_take(const Call& call) {
  if (build_reversed_time(call)) return;
  call.result(call.build.node("Gather", {call.in(0), call.in(1)}, {{"axis", call.integer("axis")}}));
}

void build_concat(const Call& call) {
  std::vector<std::string> parts;
  for (int i = 0; i < call.inputs(); ++i) parts.push_back(call.in(i));
  call.result(call.build.node("Concat", parts, {{"axis", call.integer("axis")}}));
}

}  // namespace

std::vector<Operator> shape_operators() {
  const auto reshape = [](const Call& c) {
    c.result(c.build.node("Reshape", {c.in(0), c.build.shape(c.out_lengths())}));
  };
  return {{"reshape", reshape, "Reshape"},
          {"transpose",
           [](const Call& c) {
             c.result(c.build.node("Transpose", {c.in(0)}, {{"perm", c.integers("permutation")}}));
           },
           "Transpose"},
          {"slice", build_slice, "Slice, Reshape"},
          {"split", build_slice, "Slice"},
          {"concat", build_concat, "Concat"},
          {"broadcast_to",
           [](const Call& c) {
             c.result(c.build.node("Expand", {c.in(0), c.build.shape(c.out_lengths())}));
           },
           "Expand"},
          {"flip", build_flip, "Slice"},
          {"pad", build_pad, "Pad"},
          {"tril", build_triangle, "Trilu"},
          {"triu", build_triangle, "Trilu"},
          {"take", build_take, "Gather, or ReverseSequence in a bidirectional layer with lengths"},
          {"gather",
           [](const Call& c) {
             c.result(c.build.node("GatherElements", {c.in(0), c.in(1)}, {{"axis", c.integer("axis")}}));
           },
           "GatherElements"},
          {"embedding",
           [](const Call& c) {
             c.result(c.build.node("Gather", {c.in(0), c.in(1)}, {{"axis", std::int64_t{0}}}));
           },
           "Gather"},
          {"scatter_add",
           [](const Call& c) {
             const bool of_rows = c.rank(1) == 1;
             if (of_rows && c.integer("axis") != 0) c.fail("its vector of ids is not along axis 0");
             if (of_rows)
               c.result(c.build.node("ScatterND", {c.in(0), unsqueeze(c.build, c.in(1), -1), c.in(2)},
                                     {{"reduction", std::string("add")}}));
             else
               c.result(c.build.node("ScatterElements", {c.in(0), c.in(1), c.in(2)},
                                     {{"axis", c.integer("axis")}, {"reduction", std::string("add")}}));
           },
           "ScatterND, or ScatterElements"},
          {"scatter",
           [](const Call& c) {
             c.result(c.build.node("ScatterElements", {c.in(0), c.in(1), c.in(2)}, {{"axis", c.integer("axis")}}));
           },
           "ScatterElements"}};
}

}  // namespace retrace::onnx
