#include <retrace/models/onnx/free_axes.h>

#include <algorithm>
#include <map>

#include <retrace/ops/ops.h>

namespace retrace::onnx {
namespace {

/// In a single step, a part of a sequence could not be told from the whole.
constexpr std::int64_t shortest_example = 2;
constexpr std::int64_t growth = 2;

/// x with `length` steps along the axis, from its beginning again after its end.
Tensor with_length(const Tensor& x, int axis, std::int64_t length) {
  Tensor ids = empty({length}, i64);
  ids.update<std::int64_t>([&](std::span<std::int64_t> places) {
    for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<std::int64_t>(k) % x.dim(axis);
  });
  return take(x, ids, axis);
}

/// Other numbers. An integer becomes smaller, but not 0, or takes the place of another.
Tensor with_other_values(const Tensor& x) {
  Tensor y = x.clone();
  if (x.dtype() == i64)
    y.update<std::int64_t>([](std::span<std::int64_t> values) {
      const bool are_small = std::ranges::all_of(values, [](std::int64_t id) { return id <= 1; });
      if (are_small) std::ranges::reverse(values);
      for (std::int64_t& id : values) id = id > 1 ? id - 1 : id;
    });
  else
    dispatch_real(x.dtype(), "export_onnx", [&]<class T>(T) {
      y.update<T>([](std::span<T> values) {
        for (T& value : values) value = value * T(0.5) + T(0.25);
      });
    });
  return y;
}

}  // namespace

bool is_fixed(const Lengths& lengths) {
  return std::ranges::all_of(lengths, [&](std::int64_t length) { return length == lengths.front(); });
}

std::optional<LengthFormula> formula_of(const Lengths& lengths, const std::vector<FreeAxis>& axes) {
  for (std::size_t set = 1; set < std::size_t{1} << axes.size(); ++set) {
    LengthFormula formula{0, 0, {}};
    Lengths product(lengths.size(), 1);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      if ((set >> axis & 1) == 0) continue;
      formula.of.push_back(axis);
      for (std::size_t run = 0; run < product.size(); ++run) product[run] *= axes[axis].lengths[run];
    }
    const auto differs = std::ranges::find_if(product, [&](std::int64_t length) { return length != product[0]; });
    if (differs == product.end()) continue;
    const std::int64_t grown = *differs - product[0];
    formula.factor = (lengths[static_cast<std::size_t>(differs - product.begin())] - lengths[0]) / grown;
    formula.first = lengths[0] - formula.factor * product[0];
    bool holds = true;
    for (std::size_t run = 0; run < lengths.size(); ++run)
      holds = holds && lengths[run] == formula.first + formula.factor * product[run];
    if (holds) return formula;
  }
  return std::nullopt;
}

Examples make_examples(const Tensors& given, const std::vector<std::vector<std::string>>& axes) {
  Examples examples;
  for (std::size_t input = 0; input < axes.size(); ++input)
    for (std::size_t axis = 0; axis < axes[input].size(); ++axis) {
      const std::string& name = axes[input][axis];
      if (name.empty() || std::ranges::find(examples.axes, name, &FreeAxis::name) != examples.axes.end()) continue;
      const std::int64_t longest = std::max(given[input].dim(static_cast<int>(axis)), shortest_example) + growth;
      examples.axes.push_back({name, static_cast<int>(input), static_cast<int>(axis), {longest}});
    }
  // The first run has the greatest lengths; then one axis after the other is shorter by two, then all are by one.
  const std::size_t runs = examples.axes.size() + 2;
  for (std::size_t k = 0; k < examples.axes.size(); ++k) {
    Lengths& lengths = examples.axes[k].lengths;
    lengths.assign(runs + 1, lengths.front());
    lengths[k + 1] -= growth;
    lengths[runs - 1] -= 1;
  }
  for (std::size_t run = 0; run < runs + 1; ++run) {
    Tensors inputs = given;
    for (std::size_t input = 0; input < axes.size(); ++input)
      for (std::size_t axis = 0; axis < axes[input].size(); ++axis) {
        const auto free = std::ranges::find(examples.axes, axes[input][axis], &FreeAxis::name);
        if (free != examples.axes.end())
          inputs[input] = with_length(inputs[input], static_cast<int>(axis), free->lengths[run]);
      }
    if (run == runs)
      for (Tensor& x : inputs) x = with_other_values(x);
    examples.runs.push_back(std::move(inputs));
  }
  return examples;
}

}  // namespace retrace::onnx
