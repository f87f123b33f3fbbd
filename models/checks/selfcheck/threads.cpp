// Results have the same bits on 1 to 8 threads, at sizes that are split over threads.
#include <retrace/models/checks/selfcheck/figure.h>

#include <retrace/core/base/threads_scope.h>
#include <retrace/models/checks/case_run.h>
#include <retrace/ops/ops.h>

namespace retrace {
namespace {

constexpr int max_threads = 8;

std::vector<CheckedName> large_cases() {
  Random random(8);
  const auto normal = [&](const Shape& shape) { return random.normal(shape, f64); };
  const auto named = [](const char* name, Function f, Tensors inputs) {
    return CheckedName{name, true, {{std::move(f), std::move(inputs)}}};
  };
  return {
      named("matmul", [](auto& in) { return Tensors{matmul(in[0], in[1])}; }, {normal({301, 97}), normal({97, 203})}),
      named("linear", [](auto& in) { return Tensors{linear(in[0], in[1], in[2])}; },
            {normal({517, 61}), normal({129, 61}), normal({129})}),
      named("tanh", [](auto& in) { return Tensors{tanh(in[0])}; }, {normal({331, 301})}),
      named("sum", [](auto& in) { return Tensors{sum(in[0], 1)}; }, {normal({331, 301})}),
      named("sum", [](auto& in) { return Tensors{sum(in[0])}; }, {normal({331, 301})}),
      named("softmax", [](auto& in) { return Tensors{softmax(in[0])}; }, {normal({331, 301})}),
      named("layer_norm", [](auto& in) { return Tensors{layer_norm(in[0], in[1], in[2])}; },
            {normal({331, 301}), normal({301}), normal({301})}),
      named("attention", [](auto& in) { return Tensors{attention(in[0], in[1], in[2], {.heads = 4})}; },
            {normal({5, 67, 64}), normal({5, 67, 64}), normal({5, 67, 64})}),
      named("embedding", [](auto& in) { return Tensors{embedding(in[0], in[1])}; },
            {normal({19, 64}), random.integers({2003}, 19)}),
      named("lstm_sequence",
            [](auto& in) {
              const Tensor zero = zeros({17, 64}, in[0].dtype());
              return Tensors{lstm_sequence(in[0], zero, zero, in[1]).y};
            },
            {normal({17, 20, 256}), normal({256, 64})}),
  };
}

}  // namespace

std::vector<Figure> check_threads() {
  std::vector<Figure> figures;
  for (const Dtype dtype : {f64, f32}) {
    Figure figure{"threads", text("runs that differ from one thread's, ", dtype)};
    for (const CheckedName& checked : large_cases()) {
      CaseOutcome by_one;
      for (int count = 1; count <= max_threads; ++count) {
        const ThreadsScope scope(count);
        CaseOutcome outcome = run_case(checked, checked.cases[0], {.dtype = dtype});
        if (count == 1) {
          by_one = std::move(outcome);
          continue;
        }
        ++figure.count;
        if (outcome.outputs == by_one.outputs && outcome.gradients == by_one.gradients) continue;
        ++figure.worst;
        figure.failures.push_back(text(checked.name, " on ", count, " threads"));
      }
    }
    figures.push_back(figure);
  }
  return figures;
}

}  // namespace retrace
