// The names of the nodes of a tape in prints and traces. Internal to core: see core/tensor/op_access.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <retrace/core/tape/names.h>
#include <retrace/core/tensor/node.h>

namespace retrace {

/// A node's name is the one of `names`, or else its own; without either, %3 is the output of record 3 (%3.1 its
/// second), and x0, x1, ... are leaves. It depends on earlier records alone, so that it never changes.
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

  const Names& given_;
  std::map<const Node*, std::string> names_;
  std::vector<const Node*> leaves_;
  int unnamed_leaves_ = 0;
};

}  // namespace retrace
