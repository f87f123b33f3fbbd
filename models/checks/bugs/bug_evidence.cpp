#include <retrace/models/checks/bugs/bug_evidence.h>

#include <algorithm>
#include <cmath>

#include <retrace/models/checks/bugs/bug_cards.h>
#include <retrace/models/checks/case_run.h>
#include <retrace/models/checks/generic_checks.h>

namespace retrace {
namespace {

constexpr double tolerance = 1e-3;  // of the simple tests, as it is usual for them

using Gradients = std::vector<Numbers>;

CheckedName named(const CheckCase& one) { return {"replay", false, {one}}; }

CheckCase replay(const BugCard& card, bool bug) {
  bugs::numbers() = Random(46);
  return card.op(bug);
}

// ---- the checks of this project

void append(std::string& list, std::string_view word) { list += text(list.empty() ? "" : ", ", word); }

/// Which parts of gradcheck fail.
std::string failures_of(const GradcheckResult& result) {
  if (result.passed()) return "";
  std::string list;
  const std::string order = result.name == "order 2" ? " of order 2" : "";
  if (!(result.worst_error <= result.limit)) append(list, "differences" + order);
  if (!(result.exact_error <= result.exact_limit)) append(list, "dual numbers" + order);
  if (!result.not_repeatable.empty()) append(list, "two backwards");
  return list.empty() ? "gradcheck" : list;
}

GradcheckResult checked(const CheckCase& one, int order) {
  return gradcheck(one.function, one.inputs, {.order = order, .name = order == 2 ? "order 2" : "replay"});
}

/// The first kind of check that fails: by gradcheck, by the rules of every case, or of second derivatives.
std::string found_by(const CheckCase& one) {
  if (std::string failures = failures_of(checked(one, 1)); !failures.empty()) return failures;
  if (const std::vector<std::string> rules = generic_failures(named(one), one); !rules.empty())
    return "a rule of every case: " + rules.front().substr(rules.front().find(": ") + 2);
  return one.derivatives < 2 ? "" : failures_of(checked(one, 2));
}

// ---- gradients, right and wrong

double largest(const Gradients& gradients) {
  double result = 0;
  for (const Numbers& gradient : gradients)
    for (const double g : gradient) result = std::max(result, std::abs(g));
  return result;
}

/// The largest difference, relative to the largest right element; a missing gradient is 0.
double relative_error(const Gradients& right, const Gradients& wrong) {
  double worst = 0;
  for (std::size_t k = 0; k < right.size(); ++k)
    for (std::size_t n = 0; n < right[k].size(); ++n) {
      const double error = std::abs((n < wrong[k].size() ? wrong[k][n] : 0) - right[k][n]);
      if (is_worse(error, worst)) worst = error;
    }
  return worst == 0 ? 0 : worst / largest(right);
}

/// Where others use the inputs, too, and where nobody but the tape holds them, gradients share buffers.
double error_of_gradient(const CheckCase& right, const CheckCase& wrong) {
  double worst = 0;
  for (const CaseSetting& setting :
       {CaseSetting{}, CaseSetting{.after = InputUse::scaled}, CaseSetting{.behind_identity = true, .let_go = true}}) {
    const double error = relative_error(run_case(named(right), right, setting).gradients,
                                        run_case(named(wrong), wrong, setting).gradients);
    if (is_worse(error, worst)) worst = error;
  }
  return worst;
}

/// The gradients of the sum of all outputs.
Gradients of_sum(const CheckCase& one) {
  Tape tape;
  Tensors leaves, ends, cotangents;
  for (const Tensor& input : one.inputs) leaves.push_back(input.clone().watch());
  for (const Tensor& y : one.function(leaves))
    if (y.wants_gradient()) ends.push_back(y), cotangents.push_back(ones_like(y));
  tape.backward(ends, cotangents);
  Gradients gradients;
  for (const Tensor& leaf : leaves) gradients.push_back(leaf.has_grad() ? numbers_of(leaf.grad()) : Numbers{});
  return gradients;
}

bool is_seen(double error) { return !(error <= tolerance); }

bool is_seen_at_a_point(CheckCase right, CheckCase wrong) {
  Random random(7);
  for (std::size_t k = 0; k < right.inputs.size(); ++k)
    right.inputs[k] = wrong.inputs[k] = random.uniform(right.inputs[k].shape(), 0.5, 2, f64);
  Gradients at_right = run_case(named(right), right, {}).gradients;
  Gradients at_wrong = run_case(named(wrong), wrong, {}).gradients;
  for (std::size_t k = 0; k < at_right.size(); ++k) {
    const double g = at_right[k].empty() ? 0 : at_right[k][0], of_bug = at_wrong[k].empty() ? 0 : at_wrong[k][0];
    if (g != of_bug && is_seen(std::abs(g - of_bug) / std::max(std::abs(g), std::abs(of_bug)))) return true;
  }
  return false;
}

BugEvidence evidence_of_op(const BugCard& card) {
  const CheckCase right = replay(card, false), wrong = replay(card, true);
  BugEvidence result{.card = card, .found_by = found_by(wrong), .right_fails = found_by(right)};
  result.error = card.kind == BugClass::second_order ? checked(wrong, 2).worst_error : error_of_gradient(right, wrong);
  result.seen_by_sum = is_seen(relative_error(of_sum(right), of_sum(wrong)));
  result.seen_by_point = is_seen_at_a_point(right, wrong);
  return result;
}

// ---- optimisers

double error_of_weights(const BugCard& card, Version version, const Descent& descent) {
  return relative_error({card.weights(Version::library, descent)}, {card.weights(version, descent)});
}

/// The gradients of a sum are 1 everywhere; a test at one point takes one step.
BugEvidence evidence_of_optimiser(const BugCard& card) {
  const Descent descent{{{0.3, -0.2}, {-0.5, 0.4}, {0.1, 0.7}, {0.9, -0.6}}}, of_ones{{{1, 1}, {1, 1}, {1, 1}}};
  constexpr double rounding = 1e-12;
  BugEvidence result{.card = card};
  result.error = error_of_weights(card, Version::bug, descent);
  if (result.error > rounding) result.found_by = "the formula in plain numbers";
  if (error_of_weights(card, Version::formula, descent) > rounding) result.right_fails = "the formula differs";
  result.seen_by_sum = is_seen(error_of_weights(card, Version::bug, of_ones));
  result.seen_by_point = is_seen(error_of_weights(card, Version::bug, {{descent.gradients.front()}}));
  return result;
}

}  // namespace

BugEvidence evidence_of(const BugCard& card) { return card.op ? evidence_of_op(card) : evidence_of_optimiser(card); }

std::vector<BugEvidence> replayed_bugs() {
  std::vector<BugEvidence> result;
  for (const BugCard& card : bug_cards()) result.push_back(evidence_of(card));
  return result;
}

}  // namespace retrace
