// Ops that move or select elements.
#include <algorithm>

#include <retrace/tests/golden_test/adapters.h>

namespace retrace::golden {
namespace {

Tensor permuted(const Arguments& c) {
  std::vector<int> permutation;
  for (const std::int64_t axis : c.integers("perm")) permutation.push_back(static_cast<int>(axis));
  return transpose(c["x"], std::span<const int>(permutation));
}

Shape shape_attribute(const Arguments& c) { return Shape(std::span<const std::int64_t>(c.integers("shape"))); }

NamedTensors run_transpose(const Arguments& c) { return {{"y", permuted(c)}}; }
NamedTensors run_reshape(const Arguments& c) {
  return {{"y", reshape(c.has_attribute("perm") ? permuted(c) : c["x"], shape_attribute(c))}};
}

/// One entry of an index in NumPy's notation: "3", "1:-1", "::-2", "None".
SliceIndex index_entry(const std::string& text) {
  if (text == "None" || text == "newaxis" || text == "np.newaxis") return new_axis;
  const std::vector<std::string> parts = split_text(text, ':');
  if (parts.size() == 1) return SliceIndex(to_integer(text));
  const auto part = [&](std::size_t n, std::int64_t open) {
    return n < parts.size() && !parts[n].empty() ? to_integer(parts[n]) : open;
  };
  return range(part(0, SliceIndex::none), part(1, SliceIndex::none), part(2, 1));
}

NamedTensors run_slice(const Arguments& c) {
  std::string text = c.attribute("index");
  std::erase_if(text, [](char letter) { return letter == ' ' || letter == '[' || letter == ']'; });
  const std::vector<std::string> entries = split_text(text, ',');
  const auto takes_axis = [](const std::string& entry) {
    return !entry.empty() && entry != "..." && index_entry(entry).kind != SliceIndex::Kind::new_axis;
  };
  const auto axes = std::count_if(entries.begin(), entries.end(), takes_axis);
  std::vector<SliceIndex> index;
  for (const std::string& entry : entries) {
    if (entry == "...")
      index.insert(index.end(), static_cast<std::size_t>(c["x"].rank() - axes), all);
    else if (!entry.empty())  // a comma may stand at the end
      index.push_back(index_entry(entry));
  }
  return {{"y", slice(c["x"], std::span<const SliceIndex>(index))}};
}

/// in/x0, in/x1, ..., or in/x repeated as often as the output requires.
Tensors parts_of(const Arguments& c, std::int64_t copies_of_x) {
  Tensors parts = c.numbered("x");
  if (parts.empty()) parts.assign(static_cast<std::size_t>(copies_of_x), c["x"]);
  return parts;
}
NamedTensors run_concat(const Arguments& c) {
  const int axis = c.axis();
  return {{"y", concat(parts_of(c, c.has("x") ? c.output_shape("y")[axis] / c["x"].dim(axis) : 0), axis)}};
}
NamedTensors run_stack(const Arguments& c) {
  return {{"y", stack(parts_of(c, c.output_shape("y")[c.axis()]), c.axis())}};
}
NamedTensors run_split(const Arguments& c) {
  const Tensors parts = split(c["x"], c.integers("sizes"), c.axis());
  NamedTensors result;
  for (std::size_t k = 0; k < parts.size(); ++k) result.emplace(text("y", k), parts[k]);
  return result;
}

NamedTensors run_squeeze(const Arguments& c) { return {{"y", squeeze(c["x"], c.axis())}}; }
NamedTensors run_unsqueeze(const Arguments& c) { return {{"y", unsqueeze(c["x"], c.axis())}}; }
NamedTensors run_broadcast_to(const Arguments& c) { return {{"y", broadcast_to(c["x"], shape_attribute(c))}}; }
NamedTensors run_flip(const Arguments& c) { return {{"y", flip(c["x"], c.axis())}}; }

NamedTensors run_pad(const Arguments& c) {
  std::vector<Padding> padding;
  for (const std::string& axis : split_text(c.attribute("pad"), ',')) {
    const std::vector<std::string> ends = split_text(axis, ':');
    padding.push_back({to_integer(ends.at(0)), to_integer(ends.at(1))});
  }
  return {{"y", pad(c["x"], std::span<const Padding>(padding))}};
}

NamedTensors run_repeat(const Arguments& c) { return {{"y", repeat(c["x"], c.integers("counts"))}}; }
NamedTensors run_roll(const Arguments& c) { return {{"y", roll(c["x"], c.integer("shift"), c.axis())}}; }

template <Tensor (*op)(const Tensor&, std::int64_t)> NamedTensors of_diagonal(const Arguments& c) {
  return {{"y", op(c["x"], c.integer(c.has_attribute("offset") ? "offset" : "diagonal"))}};
}

NamedTensors run_take(const Arguments& c) { return {{"y", take(c["x"], c["idx"], c.axis())}}; }
NamedTensors run_gather(const Arguments& c) { return {{"y", gather(c["x"], c["idx"], c.axis())}}; }
NamedTensors run_embedding(const Arguments& c) { return {{"y", embedding(c["W"], c["ids"])}}; }
NamedTensors run_scatter_add(const Arguments& c) { return {{"y", scatter_add(c["x"], c["idx"], c.first({"u", "x"}))}}; }

}  // namespace

Adapters shape_adapters() {
  return {{"transpose", run_transpose},
          {"reshape", run_reshape},
          {"slice", run_slice},
          {"concat", run_concat},
          {"stack", run_stack},
          {"split", run_split},
          {"squeeze", run_squeeze},
          {"unsqueeze", run_unsqueeze},
          {"broadcast_to", run_broadcast_to},
          {"flip", run_flip},
          {"pad", run_pad},
          {"repeat", run_repeat},
          {"roll", run_roll},
          {"tril", of_diagonal<tril>},
          {"triu", of_diagonal<triu>},
          {"diagonal", of_diagonal<diagonal>},
          {"diag_embed", of_diagonal<diag_embed>},
          {"diag", of_diagonal<diag>},
          {"take", run_take},
          {"gather", run_gather},
          {"embedding", run_embedding},
          {"scatter_add", run_scatter_add}};
}

}  // namespace retrace::golden
