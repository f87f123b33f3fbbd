// Turns the records of a tape into those of a trace. Internal to core: see core/tensor/op_access.h.
#pragma once

#include <map>
#include <vector>

#include <retrace/core/trace/node_names.h>
#include <retrace/core/trace/trace.h>

namespace retrace {

/// A trace of a tape's forward, to which a walk adds what flows back.
class TraceBuilder {
 public:
  TraceBuilder(const Tape& tape, const TraceOptions& options);

  /// A handle to values that never change again, or their beginning and statistics where they are too many. An
  /// undefined tensor gives nothing.
  Capture capture(const Tensor& values) const;
  /// The gradient that a node holds now; nothing if it holds none.
  Capture gradient_of(const Node& node) const;
  TraceRecord& record(const Record& record) { return trace_.records[static_cast<std::size_t>(record.index())]; }
  /// Notes what arrived at an output of a record, which the walk gives back when it has passed.
  void set_gradient(const Node& node, const Capture& gradient);
  /// Notes the gradients that are there before the first record of a backward.
  void add_seeds();
  /// The trace, with the gradients that are held now.
  Trace finish();

 private:
  int number_of(const Node& node, bool leaf, const NodeNames& names);
  int number_of(const ScopeEntry* scope);
  void add_record(const Record& record, const NodeNames& names);
  void add_values(const Record& record);

  const TraceOptions& options_;
  Trace trace_;
  std::map<const Node*, int> numbers_;
  std::vector<const Node*> nodes_;
  std::map<const ScopeEntry*, int> scopes_;
};

}  // namespace retrace
