#include <retrace/core/tape/unvisited.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include <retrace/core/tensor/op_access.h>

namespace retrace {
namespace {

using detail::Role;

thread_local constinit std::uint64_t backwards_since_an_optimizer = 0;

std::vector<UnvisitedParameter>& found() {
  thread_local std::vector<UnvisitedParameter> list;
  return list;
}

// Whether the tape holds a parameter of an optimiser. A tape without one is not training, so its parameters are
// ignored.
bool is_trained(const Record* last) {
  for (const Record* record = last; record != nullptr; record = record->previous())
    for (int i = 0; i < record->inputs(); ++i)
      if (record->wants(i) && OpAccess::node(record->in(i)).role == Role::optimized) return true;
  return false;
}

bool is_unvisited(const Node& node) { return node.role == Role::parameter && node.wants_gradient; }

void look_through(const Record* last) {
  for (const Record* record = last; record != nullptr; record = record->previous()) {
    for (int i = 0; i < record->inputs(); ++i) {
      if (!is_unvisited(OpAccess::node(record->in(i)))) continue;
      const std::string path = path_of(record->scope());
      const std::string use =
          text("record ", record->index(), " (", path, path.empty() ? "" : "/", record->op().name, ")");
      const auto known = std::find_if(found().begin(), found().end(), [&](const UnvisitedParameter& other) {
        return &OpAccess::node(other.parameter) == &record->in(i);
      });
      if (known == found().end())
        found().push_back({record->input(i), use});
      else
        known->use = use;
    }
  }
}

}  // namespace

void has_optimizer(const Tensor& parameter) {
  check_defined("has_optimizer", parameter, "the parameter");
  OpAccess::node(parameter).role = Role::optimized;
  backwards_since_an_optimizer = 0;
}

void look_for_unvisited_now_and_then(const Record* last) {
  const std::uint64_t count = ++backwards_since_an_optimizer;
  if (count > 16 && !std::has_single_bit(count)) return;
  if (is_trained(last)) look_through(last);
}

std::vector<UnvisitedParameter> take_unvisited() {
  std::vector<UnvisitedParameter> list = std::exchange(found(), {});
  std::erase_if(list, [](const UnvisitedParameter& unvisited) {
    const Node& node = OpAccess::node(unvisited.parameter);
    return !is_unvisited(node) || node.gradient == nullptr || node.gradient_used;
  });
  return list;
}

}  // namespace retrace
