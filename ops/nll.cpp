#include <retrace/ops/loops/loss.h>
#include <retrace/ops/loops/weighted_targets.h>

namespace retrace {
namespace {

constexpr OpInfo nll_info{"nll",     "l[i] = -logp[i, t[i]]", "dlogp[i, t[i]] += -dl[i]",
                          "logp, t", label_loss_formulas,     label_loss_attributes};

void nll_backward(Record& r) {
  const LabelLossAttributes attributes = r.attributes<LabelLossAttributes>();
  const std::int64_t classes = r.in(0).shape[-1];
  const std::int64_t* labels = r.saved(0).values<std::int64_t>();
  dispatch_real(r.in(0).dtype, nll_info.name, [&]<class T>(T) {
    const GradientOfLosses<T> dl(attributes.reduction, attributes.counted, r.grad_out<T>());
    T* dx = r.grad_in<T>(0, Begin::zeroed).values;
    for (std::int64_t row = 0; row < r.in(1).numel(); ++row)
      if (labels[row] != attributes.ignore_index) dx[row * classes + labels[row]] -= dl(row);
  });
}

/// 1 where q is 0.
Tensor unused_classes(const Tensor& q) {
  const Tensor mask = zeros(q.shape(), i64);
  std::int64_t* is_unused = OpAccess::values<std::int64_t>(mask);
  dispatch_real(q.dtype(), nll_info.name, [&]<class T>(T) {
    for (const T weight : q.values<T>()) *is_unused++ = weight == T(0) ? 1 : 0;
  });
  return mask;
}

/// Labels with smoothing e or class weights: (1 - e) w_t times the loss of the label, plus e times the smoothed part. A
/// log-probability of -inf that does not count adds 0.
Tensor weighted_nll(const Tensor& x, const Tensor& labels, const CrossEntropyOptions& options) {
  const double e = options.label_smoothing;
  CrossEntropyOptions unsmoothed = options, smoothed = options;
  unsmoothed.label_smoothing = 0;
  smoothed.label_smoothing = 1;
  const auto [w, counted] = weighted_targets(x, labels, unsmoothed);
  const Tensor used = masked_fill(x, unused_classes(weighted_targets(x, labels, options).q), 0);
  const CrossEntropyOptions each{.reduction = Reduction::none, .ignore_index = options.ignore_index};
  Tensor losses = mul(nll(used, labels, each), scale(sum(w, -1), 1 - e));
  if (e != 0) losses = sub(losses, sum(mul(used, scale(weighted_targets(x, labels, smoothed).q, e)), -1));
  return reduced_rows(losses, options.reduction, counted);
}

}  // namespace

Tensor nll(const Tensor& log_probabilities, const Tensor& targets, CrossEntropyOptions options) {
  check_defined(nll_info.name, log_probabilities, "logp");
  check_defined(nll_info.name, targets, "targets");
  const double counted = check_labels(nll_info.name, "logp", log_probabilities, targets, options.ignore_index);
  check_real(nll_info.name, log_probabilities, "logp");
  check_class_options(nll_info.name, "logp", log_probabilities, options);
  if (!are_plain(options)) return weighted_nll(log_probabilities, targets, options);
  const std::int64_t classes = log_probabilities.dim(-1);
  const std::int64_t* labels = targets.values<std::int64_t>().data();
  Tensor y;
  dispatch_real(log_probabilities, "logp", nll_info.name, [&]<class T>(T) {
    y = empty(options.reduction == Reduction::none ? targets.shape() : Shape{}, log_probabilities.dtype());
    const T* x = log_probabilities.values<T>().data();
    reduce_losses(options.reduction, targets.numel(), counted, OpAccess::values<T>(y), [=](std::int64_t row) {
      return labels[row] == options.ignore_index ? T(0) : -x[row * classes + labels[row]];
    });
  });
  record(nll_info, nll_backward, {&log_probabilities, &targets}, {&y}, {&targets},
         LabelLossAttributes{options.reduction, options.ignore_index, counted});
  return y;
}

}  // namespace retrace
