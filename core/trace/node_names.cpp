#include <retrace/core/tensor/op_access.h>
#include <retrace/core/trace/node_names.h>

namespace retrace {

NodeNames::NodeNames(const std::vector<const Record*>& records, const Names& names) : given_(names) {
  for (const Record* record : records) {
    for (int i = 0; i < record->inputs(); ++i) add_leaf(OpAccess::node(record->in(i)));
    for (int j = 0; j < record->outputs(); ++j) {
      const Node& node = OpAccess::node(record->out(j));
      if (!add(node, j == 0 ? text("%", record->index()) : text("%", record->index(), ".", j))) number(node, *record);
    }
  }
}

void NodeNames::add_leaf(const Node& node) {
  if (names_.contains(&node)) return;
  leaves_.push_back(&node);
  if (add(node, text("x", unnamed_leaves_)))
    ++unnamed_leaves_;
  else
    ++seen_[{nullptr, names_.at(&node)}];
}

void NodeNames::number(const Node& node, const Record& record) {
  std::string& name = names_.at(&node);
  const void* module = record.scope() == nullptr ? nullptr : record.scope()->module;
  const int leaves = module != nullptr && seen_.contains({nullptr, name}) ? 1 : 0;
  if (const int earlier = leaves + seen_[{module, name}]++; earlier > 0) name += text("_", earlier);
}

bool NodeNames::add(const Node& node, const std::string& otherwise) {
  const std::string_view given = given_.find(node);
  const bool has_own = node.name != nullptr && !node.name->empty();
  names_.emplace(&node, !given.empty() ? std::string(given) : has_own ? *node.name : otherwise);
  return given.empty() && !has_own;
}

}  // namespace retrace
