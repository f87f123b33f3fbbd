#include <retrace/ops/loops/class_losses.h>
#include <retrace/ops/loops/weighted_targets.h>

namespace retrace {

// max x, ln sum_c e^(x[c] - max x) and 1 / sum_c e^(x[c] - max x) of each row.
template <class T> void plain::log_sum_exp(const LogSumExpRows<T>& args) {
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const T* x = args.x + row * args.length;
    T max_x = static_cast<T>(-std::numeric_limits<double>::infinity());
    for (std::int64_t k = 0; k < args.length; ++k) max_x = x[k] > max_x ? x[k] : max_x;
    const T sum = ordered_sum<T>(args.length, [=](std::int64_t k) { return exp(x[k] - max_x); });
    args.max_x[row] = max_x;
    args.log_sums[row] = log(sum);
    args.inverse_sums[row] = T(1) / sum;
  }
}

// The gradient of a row but for its label: dx = dl softmax(x), with shift max x and factor dl / sum_c e^(x[c] - max x).
template <class T> void plain::scaled_exp(const ScaledExp<T>& args) {
  GradientSlot<T>{args.y, args.add}.put(args.count,
                                        [=](std::int64_t k) { return args.factor * exp(args.x[k] - args.shift); });
}

RETRACE_INSTANTIATE_PLAIN(log_sum_exp, LogSumExpRows);
RETRACE_INSTANTIATE_PLAIN(scaled_exp, ScaledExp);

namespace {

constexpr OpInfo cross_entropy_info{"cross_entropy",
                                    "l[i] = ln sum_c e^x[i, c] - x[i, t[i]]",
                                    "dx[i, c] = dl[i] (softmax(x)[i, c] - [c = t[i]])",
                                    "x, t",
                                    label_loss_formulas,
                                    label_loss_attributes};
constexpr OpInfo soft_info{"cross_entropy",
                           "l[i] = -sum_c t[i, c] log_softmax(x)[i, c]",
                           "dx[i, c] = dl[i] (softmax(x)[i, c] sum_k t[i, k] - t[i, c]), "
                           "dt[i, c] = -dl[i] log_softmax(x)[i, c]",
                           "x, t",
                           label_loss_formulas,
                           label_loss_attributes};

void cross_entropy_backward(Record& r) {
  const LabelLossAttributes attributes = r.attributes<LabelLossAttributes>();
  const std::int64_t classes = r.in(0).shape[-1], rows = r.in(1).numel();
  const std::int64_t* labels = r.saved(2).values<std::int64_t>();
  dispatch_real(r.in(0).dtype, cross_entropy_info.name, [&]<class T>(T) {
    const ClassLosses<T> loss(r.saved(0).values<T>(), r.saved(1).values<T>(), rows, classes);
    const GradientOfLosses<T> dl(attributes.reduction, attributes.counted, r.grad_out<T>());
    const GradientSlot<T> dx = r.grad_in<T>(0);
    for_each_row(rows, classes, [&](std::int64_t row) {
      const GradientSlot<T> of_row{dx.values + row * classes, dx.add};
      if (labels[row] == attributes.ignore_index)
        of_row.put(classes, [](std::int64_t) { return T(0); });
      else
        loss.put_gradient(row, labels[row], dl(row), of_row);
    });
  });
}

void soft_backward(Record& r) {
  const LabelLossAttributes attributes = r.attributes<LabelLossAttributes>();
  const std::int64_t classes = r.in(0).shape[-1], rows = r.saved(1).shape()[1];
  dispatch_real(r.in(0).dtype, cross_entropy_info.name, [&]<class T>(T) {
    const ClassLosses<T> loss(r.saved(0).values<T>(), r.saved(1).values<T>(), rows, classes);
    const T* t = r.saved(2).values<T>();
    const GradientOfLosses<T> dl(attributes.reduction, attributes.counted, r.grad_out<T>());
    if (r.wants(0)) {
      const GradientSlot<T> dx = r.grad_in<T>(0);
      for (std::int64_t row = 0; row < rows; ++row) {
        const T* target = t + row * classes;
        const T mass = ordered_sum<T>(classes, [=](std::int64_t c) { return target[c]; });
        GradientSlot<T>{dx.values + row * classes, dx.add}.put(
            classes, [=](std::int64_t c) { return dl(row) * (exp(-loss(row, c)) * mass - target[c]); });
      }
    }
    if (r.wants(1))
      r.grad_in<T>(1).put(rows * classes,
                          [=](std::int64_t k) { return dl(k / classes) * loss(k / classes, k % classes); });
  });
}

void check_soft_targets(const Tensor& logits, const Tensor& targets) {
  if (logits.shape() != targets.shape() || logits.rank() == 0)
    throw ShapeError(text("cross_entropy: ", describe_operand("logits", logits), " and ",
                          describe_operand("targets", targets),
                          ": soft targets have the shape of the logits; reshape one of them, or give labels as i64"));
}

Tensor soft_cross_entropy(const Tensor& logits, const Tensor& targets, Reduction reduction) {
  if (logits.dtype() != targets.dtype()) {
    const auto [like_targets, like_logits] =
        with_tangents(cross_entropy_info.name, logits, targets, "logits", "targets");
    return soft_cross_entropy(like_targets, like_logits, reduction);
  }
  check_real(cross_entropy_info.name, logits, "logits");
  const double counted = static_cast<double>(logits.shape().first(logits.rank() - 1).numel());
  const auto [y, sums] =
      losses_of_rows(logits, reduction, counted, [&]<class T>(const ClassLosses<T>& loss, std::int64_t row) {
        const T* t = targets.values<T>().data() + row * logits.dim(-1);
        return ordered_sum<T>(logits.dim(-1), [&](std::int64_t c) {
          const T of_class = loss(row, c);
          return t[c] == T(0) && !isfinite(of_class) ? T(0) : t[c] * of_class;  // 0 (-inf) is 0 here
        });
      });
  record(soft_info, soft_backward, {&logits, &targets}, {&y}, {&logits, &sums, &targets},
         LabelLossAttributes{reduction, {}, counted});
  return y;
}

/// Labels with smoothing or class weights, as soft targets.
Tensor weighted_cross_entropy(const Tensor& logits, const Tensor& labels, const CrossEntropyOptions& options) {
  const auto [q, counted] = weighted_targets(logits, labels, options);
  const Tensor losses = soft_cross_entropy(without_ignored_rows(logits, labels, options), q, Reduction::none);
  return reduced_rows(losses, options.reduction, counted);
}

}  // namespace

Tensor cross_entropy(const Tensor& logits, const Tensor& targets, CrossEntropyOptions options) {
  check_defined(cross_entropy_info.name, {{&logits, "logits"}, {&targets, "targets"}});
  if (targets.dtype() != i64) {
    check_soft_targets(logits, targets);
    check_class_options(cross_entropy_info.name, "logits", logits, options);
    if (are_plain(options)) return soft_cross_entropy(logits, targets, options.reduction);
    check_dtypes(cross_entropy_info.name, logits, targets, "logits", "targets");
    return soft_cross_entropy(logits, weighted_soft_targets(targets, options), options.reduction);
  }
  const double counted = check_labels(cross_entropy_info.name, "logits", logits, targets, options.ignore_index);
  check_real(cross_entropy_info.name, logits, "logits");
  check_class_options(cross_entropy_info.name, "logits", logits, options);
  if (expand_fused()) return nll(log_softmax(without_ignored_rows(logits, targets, options)), targets, options);
  if (!are_plain(options)) return weighted_cross_entropy(logits, targets, options);
  const std::int64_t* labels = targets.values<std::int64_t>().data();
  const auto [y, sums] =
      losses_of_rows(logits, options.reduction, counted, [&]<class T>(const ClassLosses<T>& loss, std::int64_t row) {
        return labels[row] == options.ignore_index ? T(0) : loss(row, labels[row]);
      });
  record(cross_entropy_info, cross_entropy_backward, {&logits, &targets}, {&y}, {&logits, &sums, &targets},
         LabelLossAttributes{options.reduction, options.ignore_index, counted});
  return y;
}

}  // namespace retrace
