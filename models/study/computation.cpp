#include <retrace/core/base/printable.h>
#include <retrace/core/checks/element_checks.h>
#include <retrace/models/study/computation.h>
#include <retrace/models/training/not_finite.h>
#include <retrace/ops/ops.h>

#include <algorithm>
#include <vector>

namespace retrace {
namespace {

/// Freezes leaves until the end of the block.
class FrozenLeaves {
 public:
  explicit FrozenLeaves(const NamedLeaves& leaves) {
    for (const auto& [name, leaf] : leaves)
      if (leaf.wants_gradient()) frozen_.push_back(leaf.freeze());
  }
  FrozenLeaves(const FrozenLeaves&) = delete;
  FrozenLeaves& operator=(const FrozenLeaves&) = delete;
  ~FrozenLeaves() {
    for (const Tensor& leaf : frozen_) leaf.watch();
  }

 private:
  Tensors frozen_;
};

bool is_finite(const Capture& capture) {
  if (!capture.exists()) return true;
  const Statistics all = capture.statistics ? *capture.statistics : statistics_of(capture.values);
  return all.nans + all.infinities == 0;
}

/// "the result", "the gradient of x"
std::vector<std::string> not_finite_ends(const Trace& trace) {
  std::vector<std::string> ends;
  for (const TraceSeed& seed : trace.seeds)
    if (!is_finite(trace.nodes[static_cast<std::size_t>(seed.node)].value)) ends.emplace_back("the result");
  for (const TraceNode& node : trace.nodes)
    if (node.leaf && !is_finite(node.gradient)) ends.push_back("the gradient of " + printable(node.name));
  return ends;
}

/// Says with which weights the elements of a result are added up to the loss, and why.
std::string note_on_cotangent(const Tensor& cotangent) {
  return text("L = sum(R y): y is the result ", cotangent.shape(),
              ", and R, which arrives there as dy, has a fixed random number for each of its elements (--seed draws "
              "others). Each element counts differently, so that an error in one of them cannot hide.");
}

}  // namespace

Tensor Computation::cotangent_of(const Tensor& y) const {
  if (!cotangents || y.numel() == 1) return {};
  Random random = *cotangents;
  return random.normal(y.shape(), y.dtype());
}

Tensor Computation::loss_of(const Tensor& y) const {
  const Tensor cotangent = cotangent_of(y);
  return cotangent.defined() ? sum(y * cotangent) : y;
}

Trace trace_of(const Computation& computation, const HeldOptions& options) {
  const DtypeScope scope(computation.dtype);
  Tape tape({.keep = true, .expand_fused = options.expand_fused});
  const Tensor y = computation.result();
  if (!y.wants_gradient())
    throw ValueError(text("study: no gradient flows back from the result of ", computation.title,
                          ": it is constant, or made of integers; use a real input in a way that has a derivative"));
  if (y.name().empty()) y.named(computation.cotangents ? "y" : "loss");
  const TraceOptions held{.title = computation.title, .names = computation.names, .max_elements = options.max_elements};
  const Tensor cotangent = computation.cotangent_of(y);
  Trace trace = cotangent.defined() ? trace_backward(tape, {y}, {cotangent}, held) : trace_backward(tape, y, held);
  trace.notes = computation.notes;
  if (cotangent.defined()) trace.notes.push_back(note_on_cotangent(cotangent));
  const auto x = std::ranges::find_if(trace.nodes, [](const TraceNode& node) { return node.leaf && node.name == "x"; });
  if (x != trace.nodes.end()) x->row_names = computation.rows_of_x;
  return trace;
}

bool is_derivative(const Trace& trace) {
  return std::ranges::none_of(trace.records, [](const TraceRecord& record) {
    return std::ranges::any_of(record.attributes, [](const Attribute& it) { return it.name == "surrogate"; });
  });
}

std::string not_finite_in(const Trace& trace, const Computation& computation, const HeldOptions& options) {
  const std::vector<std::string> ends = not_finite_ends(trace);
  if (ends.empty()) return "";
  std::string result;
  for (const std::string& end : ends) result += (result.empty() ? "" : " and ") + end;
  result += ends.size() == 1 ? " is not finite" : " are not finite";
  for (const auto& [name, leaf] : computation.leaves) leaf.zero_grad();  // what the trace left there is not finite
  const DtypeScope scope(computation.dtype);
  Tape tape({.keep = true, .expand_fused = options.expand_fused});
  const std::optional<NotFinite> first =
      first_not_finite(tape, computation.loss_of(computation.result()), computation.names);
  return first ? text(result, "; ", to_text(*first)) : result;
}

void check_elements(Trace& trace, const Computation& computation, std::int64_t per_leaf) {
  const DtypeScope scope(computation.dtype);
  const NoTape no_tape;
  const Tensor cotangent = computation.cotangent_of(computation.result());
  check_elements(trace, [&] { return Tensors{computation.result()}; }, computation.leaves,
                 cotangent.defined() ? Tensors{cotangent} : Tensors(), {.per_leaf = per_leaf});
}

std::vector<GradientFlow> gradient_flow_of(const Computation& computation) {
  if (!computation.through_time)
    throw ValueError(text("study: ", computation.title,
                          " has no steps in time for a gradient to flow through; choose rnn, lstm, gru, "
                          "relational-memory, relational-rnn, rmc, multi-head-attention, attention-model, a model of "
                          "your own or a trained one"));
  const DtypeScope scope(computation.dtype);
  const FrozenLeaves frozen(computation.leaves);
  return gradient_flow(*computation.through_time);
}

}  // namespace retrace
