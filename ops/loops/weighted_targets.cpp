#include <retrace/ops/loops/weighted_targets.h>

#include <retrace/ops/op.h>

namespace retrace {
namespace {

/// The weights as f64; ones if there are none.
Tensor weights_of(std::int64_t classes, const CrossEntropyOptions& options) {
  const NoTape nothing_is_recorded;
  return options.class_weights.defined() ? options.class_weights.detach().to(f64) : ones({classes}, f64);
}

}  // namespace

void check_class_options(const char* function, const char* role, const Tensor& scores,
                         const CrossEntropyOptions& options) {
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    throw ValueError(text(function, ": label_smoothing is ", options.label_smoothing, "; it must lie from 0 to 1"));
  const Tensor& weights = options.class_weights;
  if (!weights.defined()) return;
  if (weights.shape() != Shape{scores.dim(-1)})
    throw ShapeError(text(function, ": ", describe_operand("class_weights", weights), " must be [", scores.dim(-1),
                          "], one weight per class of ", describe_operand(role, scores)));
  check_real(function, weights, "class_weights");
  check_dtypes(function, scores, weights, role, "class_weights");
}

WeightedTargets weighted_targets(const Tensor& scores, const Tensor& labels, const CrossEntropyOptions& options) {
  const std::int64_t classes = scores.dim(-1), rows = labels.numel();
  const Tensor weights = weights_of(classes, options);
  const double* w = weights.values<double>().data();
  const std::int64_t* label = labels.values<std::int64_t>().data();
  const double kept = 1 - options.label_smoothing, spread = options.label_smoothing / static_cast<double>(classes);
  WeightedTargets result{zeros(scores.shape(), scores.dtype()), 0};
  dispatch_real(scores.dtype(), "weighted_targets", [&]<class T>(T) {
    T* q = OpAccess::values<T>(result.q);
    for (std::int64_t row = 0; row < rows; ++row) {
      if (label[row] == options.ignore_index) continue;
      result.counted += w[label[row]];
      for (std::int64_t c = 0; c < classes; ++c)
        q[row * classes + c] = static_cast<T>(w[c] * ((c == label[row] ? kept : 0.0) + spread));
    }
  });
  return result;
}

Tensor without_ignored_rows(const Tensor& scores, const Tensor& labels, const CrossEntropyOptions& options) {
  if (!options.ignore_index) return scores;
  const Tensor mask = zeros(scores.shape().replaced(scores.rank() - 1, 1), i64);
  const auto label = labels.values<std::int64_t>();
  std::int64_t* is_ignored = OpAccess::values<std::int64_t>(mask);
  bool any = false;
  for (std::size_t row = 0; row < label.size(); ++row)
    if (label[row] == *options.ignore_index) is_ignored[row] = 1, any = true;
  return any ? masked_fill(scores, mask, 0) : scores;
}

Tensor weighted_soft_targets(const Tensor& targets, const CrossEntropyOptions& options) {
  Tensor q = targets;
  const double e = options.label_smoothing;
  if (e != 0) q = shift(scale(q, 1 - e), e / static_cast<double>(targets.dim(-1)));
  return options.class_weights.defined() ? mul(q, options.class_weights.detach()) : q;
}

Tensor reduced_rows(const Tensor& losses, Reduction reduction, double counted) {
  if (reduction == Reduction::none) return losses;
  const Tensor total = sum(losses);
  if (reduction == Reduction::sum) return total;
  return counted == 0 ? scale(total, 0) : div(total, counted);
}

}  // namespace retrace
