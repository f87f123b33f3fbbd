// A computation that a study can run again: to trace it, to check its gradients another way and to follow them through
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/checks/checked_function.h>
#include <retrace/core/tape/names.h>
#include <retrace/core/tensor/random.h>
#include <retrace/core/trace/trace.h>
#include <retrace/models/study/gradient_flow.h>

namespace retrace {

/// A computation that can be run again, for traces and element checks.
struct Computation {
  std::string title;
  Names names;
  NamedLeaves leaves;              // that want gradients; result() computes from what they hold
  std::function<Tensor()> result;  // keeps alive all that it needs
  /// The cotangent of a result of several elements is drawn from it; without one, the result has one element.
  std::optional<Random> cotangents;
  Dtype dtype = f64;
  std::optional<ThroughTime> through_time = {};  // of what has steps in time
  std::vector<std::string> notes = {};           // for a reader: Trace::notes
  std::vector<std::string> rows_of_x = {};       // of the leaf x, in words: TraceNode::row_names

  /// A cotangent of that result, the same each time; undefined for a result of one element, which is the loss.
  Tensor cotangent_of(const Tensor& y) const;
  /// The loss whose gradients are studied: the result, or sum(R y) with the cotangent R.
  Tensor loss_of(const Tensor& y) const;
};

/// How much a trace holds of a computation.
struct HeldOptions {
  bool expand_fused = true;  // show the composed twin of each fused op
  std::int64_t max_elements = TraceOptions().max_elements;
};

/// One forward and one backward. Throws ValueError if no gradient flows back from the result.
Trace trace_of(const Computation& computation, const HeldOptions& options = {});
/// Whether all backwards are meant to be derivatives: see CustomOpOptions::surrogate. Otherwise the gradients are not
/// those that dual numbers and differences give.
bool is_derivative(const Trace& trace);
/// Names the result and the gradients of leaves in this trace of the computation that are not finite, and the record
/// with which that began: "the gradient of x is not finite; record 1, sqrt, is the first ...". Empty if all are finite.
std::string not_finite_in(const Trace& trace, const Computation& computation, const HeldOptions& options = {});
/// Adds to a trace of this computation, for each leaf, that many elements of its gradient by three ways: see
/// core/checks/element_checks.h.
void check_elements(Trace& trace, const Computation& computation, std::int64_t per_leaf);
/// Its flows of gradients: see gradient_flow. Leaves the gradients of its leaves as they are. Throws ValueError, with
/// the remedy, for a computation without steps in time.
std::vector<GradientFlow> gradient_flow_of(const Computation& computation);

}  // namespace retrace
