#include <retrace/models/checks/memory_rule.h>

#include <retrace/core/core.h>

namespace retrace {
namespace {

/// One forward and one backward.
void walk(const CheckCase& one, const Tensors& inputs) {
  Tape tape;
  Random random(3);
  Tensors ends, cotangents;
  for (const Tensor& y : one.function(inputs)) {
    if (!y.wants_gradient()) continue;
    ends.push_back(y);
    cotangents.push_back(random.normal(y.shape(), f64));
  }
  if (!ends.empty()) tape.backward(ends, cotangents);
}

/// The inputs, of which only number `wanted` wants a gradient.
Tensors with_one_leaf(const CheckCase& one, std::size_t wanted) {
  Tensors inputs;
  for (std::size_t k = 0; k < one.inputs.size(); ++k) {
    inputs.push_back(one.inputs[k].clone());
    if (k == wanted) inputs.back().watch();
  }
  return inputs;
}

class MemoryRule {
 public:
  MemoryRule(const CheckedName& checked, const CheckCase& one) : checked_(checked), case_(one) {}

  std::vector<std::string> failures() {
    if (case_.holds_inputs) {
      Tensors inputs = case_.inputs;
      inputs.back() = inputs.back().clone();
      check(inputs, inputs.size());
    } else {
      for (std::size_t k = 0; k < case_.inputs.size(); ++k)
        if (case_.inputs[k].dtype() != i64) check(with_one_leaf(case_, k), k);
    }
    return failures_;
  }

 private:
  /// The first walk allocates the gradients of the leaves and what is made only once; the second must keep no more.
  void check(const Tensors& inputs, std::size_t wanted) {
    walk(case_, inputs);
    const std::int64_t before = memory_stats().live_bytes;
    walk(case_, inputs);
    if (const std::int64_t kept = memory_stats().live_bytes - before; kept != 0)
      failures_.push_back(text(checked_.name, ": keeps ", kept, " bytes of the pool after a forward and a backward"));
    for (std::size_t k = case_.holds_inputs ? inputs.size() - 1 : 0; k < inputs.size(); ++k)
      if (k != wanted && inputs[k].dtype() != i64 && inputs[k].has_grad())
        failures_.push_back(text(checked_.name, ": input ", k, " gets a gradient that it does not want"));
  }

  const CheckedName& checked_;
  const CheckCase& case_;
  std::vector<std::string> failures_;
};

}  // namespace

std::vector<std::string> memory_failures(const CheckedName& checked, const CheckCase& one) {
  const DtypeScope scope(f64);
  return MemoryRule(checked, one).failures();
}

}  // namespace retrace
