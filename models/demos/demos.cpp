#include <retrace/core/base/error.h>
#include <retrace/core/tape/tape.h>
#include <retrace/models/demos/demos.h>
#include <retrace/models/demos/each_demo.h>
#include <retrace/models/formats/nearest_name.h>

#include <algorithm>
#include <array>

namespace retrace {
namespace {

constexpr std::array<std::string_view, 6> names{"attention",   "reasoning", "evolution", "with-and-without-memory",
                                                "interaction", "capacity"};
constexpr std::array<Demo (*)(), names.size()> makers{
    attention_demo, reasoning_demo, evolution_demo, with_and_without_memory_demo, interaction_demo, capacity_demo};

}  // namespace

std::span<const std::string_view> demo_names() { return names; }

Demo make_demo(std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) throw ValueError(unknown_name("make_demo", "demo", name, names));
  const NoTape only_values;
  const DtypeScope doubles(f64);
  Demo demo = makers[static_cast<std::size_t>(found - names.begin())]();
  demo.name = name;
  return demo;
}

}  // namespace retrace
