#include <retrace/models/checks/generic_checks.h>

#include <algorithm>
#include <cmath>

#include <retrace/core/base/threads_scope.h>
#include <retrace/models/checks/case_run.h>

namespace retrace {
namespace {

std::string described(InputUse use) {
  return use == InputUse::none ? "not at all" : use == InputUse::scaled ? "by scale" : "by identity";
}

class GenericChecks {
 public:
  GenericChecks(const CheckedName& checked, const CheckCase& one) : checked_(checked), case_(one) {}

  std::vector<std::string> failures() {
    std::vector<Numbers> before;
    for (const Tensor& input : case_.inputs) before.push_back(numbers_of(input));
    check_threads();
    check_handles();
    check_uses();
    check_walks();
    check_parts();
    check_dtypes();
    for (std::size_t k = 0; k < before.size(); ++k)
      expect(distance({before[k]}, {numbers_of(case_.inputs[k])}) == 0, text("input ", k, " was changed"));
    return failures_;
  }

 private:
  CaseOutcome run(const CaseSetting& setting) const { return run_case(checked_, case_, setting); }

  void expect(bool holds, const std::string& rule) {
    if (!holds) failures_.push_back(text(checked_.name, ": ", rule));
  }
  void expect_same_gradients(const CaseSetting& setting, const std::string& rule) {
    expect(distance(plain_.gradients, run(setting).gradients) == 0, rule);
  }

  void check_threads() {
    const auto run_on = [&](int count) {
      const ThreadsScope scope(count);
      return run({});
    };
    plain_ = run_on(1);
    const CaseOutcome again = run_on(2);
    expect(!checked_.is_op || plain_.recorded_itself, "the op did not record itself under its name");
    expect(distance(plain_.outputs, again.outputs) == 0 && distance(plain_.gradients, again.gradients) == 0,
           "a second run, on two threads, gave other bits");
  }

  // Gradients do not depend on who holds inputs and outputs, nor on where in their storage inputs begin.
  void check_handles() {
    expect_same_gradients({.behind_identity = true}, "inputs behind identity get other gradients than leaves");
    expect_same_gradients({.behind_identity = true, .let_go = true},
                          "gradients have other bits where nobody but the tape holds inputs and outputs");
    expect_same_gradients({.written_later = true},
                          "gradients change with inputs that are written to between forward and backward");
    expect_same_gradients({.in_views = true, .written_later = true},
                          "gradients change with views of inputs that are written to between forward and backward");
    expect_same_gradients({.in_views = true}, "inputs that begin in the middle of a storage get other gradients");
  }

  // The gradient of the case is added to gradients of the same inputs that arrive before it and after it.
  void check_uses() {
    for (const InputUse use : {InputUse::scaled, InputUse::passed}) {
      expect_sum({.after = use}, plain_, 1e-12);
      expect_sum({.before = use}, plain_, 1e-12);
      expect_sum({.behind_identity = true, .before = use, .let_go = true}, plain_, 1e-12);
      expect_sum({.behind_identity = true, .before = InputUse::scaled, .after = use, .let_go = true}, plain_, 1e-12);
    }
    expect_sum({.dtype = f32, .after = InputUse::scaled}, run({.dtype = f32}), 1e-5);
    expect_sum({.dtype = dual, .after = InputUse::scaled}, plain_, 1e-12);
  }
  void expect_sum(const CaseSetting& setting, const CaseOutcome& alone, double limit) {
    expect(distance(with_uses(alone.gradients, case_, setting), run(setting).gradients) < limit,
           text("inputs that are used before it (", described(setting.before), ") and after it (",
                described(setting.after), ") do not get the sum of all gradients, in ", setting.dtype,
                setting.let_go ? ", where nobody but the tape holds them" : ""));
  }

  void check_walks() {
    expect(distance(plain_.gradients, run({.walked_twice = true}).gradients, 2) < 1e-12,
           "a second walk does not add to the gradients of the first");
    expect_same_gradients({.walked_twice = true, .used_up_in_between = true},
                          "a second walk does not overwrite gradients that were used up");
    expect_same_gradients({.fails_first = true}, "a backward that throws leaves gradients");
  }

  // The gradient is linear in the cotangents, and the gradient of one input does not depend on the others' wanting one.
  void check_parts() {
    expect(distance(plain_.gradients, run({.output_twice = true}).gradients, 2) < 1e-12,
           "outputs used twice do not give twice the gradient");
    for (const Numbers& gradient : run({.cotangent_factor = 0}).gradients)
      expect(std::ranges::all_of(gradient, [](double g) { return g == 0; }), "a zero cotangent gives a gradient");
    if (plain_.outputs.size() > 1)
      expect(distance(plain_.gradients, sum_over_outputs(checked_, case_, plain_)) < 1e-12,
             "what flows back from each output alone does not add up to what flows back from all");
    for (std::size_t k = 0; k < case_.inputs.size(); ++k) {
      if (case_.inputs[k].dtype() == i64) continue;
      const CaseOutcome alone = run({.only = static_cast<int>(k)});
      expect(distance({plain_.gradients[k]}, {alone.gradients[k]}) == 0,
             text("input ", k, " alone gets another gradient than beside the others"));
    }
  }

  // f32 has kernels of its own; dual numbers, of which only the values are compared here, run through plain loops.
  void check_dtypes() {
    const CaseOutcome single = run({.dtype = f32}), of_duals = run({.dtype = dual});
    expect(distance(plain_.outputs, single.outputs) < 1e-4 && distance(plain_.gradients, single.gradients) < 1e-3,
           "f32 does not agree with f64");
    expect(distance(plain_.outputs, of_duals.outputs) < 1e-12 && distance(plain_.gradients, of_duals.gradients) < 1e-12,
           "dual numbers do not agree with f64");
  }

  const CheckedName& checked_;
  const CheckCase& case_;
  CaseOutcome plain_;
  std::vector<std::string> failures_;
};

}  // namespace

std::vector<std::string> generic_failures(const CheckedName& checked, const CheckCase& one) {
  return GenericChecks(checked, one).failures();
}

}  // namespace retrace
