// The names of the nodes of a tape in prints and traces. Internal to core: see core/tensor/op_access.h.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <retrace/core/tape/names.h>
#include <retrace/core/tensor/node.h>

namespace retrace {

/// A node's name is the one of `names`, or else its own; without either, %3 is the output of record 3 (%3.1 its
/// second), and x0, x1, ... are leaves. Outputs of one name in one module, and those named as a leaf is, are numbered:
/// h, h_1, h_2. A name depends only on earlier records, so that it never changes.
class NodeNames {
 public:
  NodeNames(const std::vector<const Record*>& records, const Names& names);
  const std::string& operator[](const Node& node) const { return names_.at(&node); }
  /// In the order in which the tape met them.
  const std::vector<const Node*>& leaves() const { return leaves_; }

 private:
  void add_leaf(const Node& node);
  /// Whether the node has no name of its own.
  bool add(const Node& node, const std::string& otherwise);
  /// Numbers a named output if its module has the name already.
  void number(const Node& node, const Record& record);

  const Names& given_;
  std::map<const Node*, std::string> names_;
  std::vector<const Node*> leaves_;
  std::map<std::pair<const void*, std::string>, int> seen_;  // named outputs of a module; of none: leaves
  int unnamed_leaves_ = 0;
};

}  // namespace retrace
