#include <cmath>
#include <limits>

#include <retrace/core/dual.h>
#include <retrace/core/parallel.h>
#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/loss.h>
#include <retrace/ops/loops/ordered_sum.h>
#include <retrace/ops/loops/weighted_targets.h>

namespace retrace {
namespace kernels {

// ln sum_c e^x[c] of each row.
template <class T> void log_sum_exp_plain(const LogSumExpRows<T>& args) {
  using std::exp, std::log;
  for (std::int64_t row = 0; row < args.rows; ++row) {
    const T* x = args.x + row * args.length;
    T max_x = static_cast<T>(-std::numeric_limits<double>::infinity());
    for (std::int64_t k = 0; k < args.length; ++k) max_x = x[k] > max_x ? x[k] : max_x;
    args.sums[row] = max_x + log(ordered_sum<T>(args.length, [=](std::int64_t k) { return exp(x[k] - max_x); }));
  }
}

// The gradient of a row but for its label: dx = dl softmax(x), with shift ln sum_c e^x[c] and factor dl.
template <class T> void scaled_exp_plain(const ScaledExp<T>& args) {
  using std::exp;
  GradientSlot<T>{args.y, args.add}.put(args.count,
                                        [=](std::int64_t k) { return args.factor * exp(args.x[k] - args.shift); });
}

template void log_sum_exp_plain(const LogSumExpRows<float>&);
template void log_sum_exp_plain(const LogSumExpRows<double>&);
template void log_sum_exp_plain(const LogSumExpRows<Dual>&);
template void scaled_exp_plain(const ScaledExp<float>&);
template void scaled_exp_plain(const ScaledExp<double>&);
template void scaled_exp_plain(const ScaledExp<Dual>&);

}  // namespace kernels

namespace {

struct Attributes {
  Reduction reduction;
  std::optional<std::int64_t> ignore_index;
  double counted;
};

Formulas formulas(const Record& r) {
  const auto& [reduction, ignore_index, counted] = r.attributes<Attributes>();
  const std::string where = r.in(1).dtype == i64 ? ignoring(ignore_index) : "";
  return {text(r.op().forward, where, reduced_formula(reduction, counted)),
          text(gradient_of_loss_formula(reduction, counted), ", ", r.op().backward, where)};
}
AttributeList attribute_list(const Record& r) {
  return label_loss_attributes(r.attributes<Attributes>().reduction, r.attributes<Attributes>().ignore_index);
}
constexpr OpInfo info{"cross_entropy",
                      "l[i] = ln sum_c e^x[i, c] - x[i, t[i]]",
                      "dx[i, c] = dl[i] (softmax(x)[i, c] - [c = t[i]])",
                      "x, t",
                      formulas,
                      attribute_list};
constexpr OpInfo soft_info{"cross_entropy",
                           "l[i] = -sum_c t[i, c] log_softmax(x)[i, c]",
                           "dx[i, c] = dl[i] (softmax(x)[i, c] sum_k t[i, k] - t[i, c]), "
                           "dt[i, c] = -dl[i] log_softmax(x)[i, c]",
                           "x, t",
                           formulas,
                           attribute_list};

constexpr std::int64_t grain = 4096;  // logits that are worth a thread

/// body(row) for every row, over threads.
template <class Body> void for_each_row(std::int64_t rows, std::int64_t classes, Body&& body) {
  parallel_for(rows, grain / (classes + 1) + 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  });
}

/// The part of a row of dx that does not depend on the label, dl softmax(x), and at the label dl (softmax(x) - 1).
template <class T>
void put_gradient(const T* x, T total, T dl, std::int64_t label, std::int64_t classes, const GradientSlot<T>& dx) {
  using std::exp;
  const T before = dx.add ? dx.values[label] : T(0);
  kernels::run<T>(&kernels::KernelTable::scaled_exp, kernels::scaled_exp_plain<T>,
                  {.x = x, .shift = total, .factor = dl, .y = dx.values, .count = classes, .add = dx.add});
  dx.values[label] = before + dl * (exp(x[label] - total) - T(1));
}

void backward(Record& r) {
  const Attributes attributes = r.attributes<Attributes>();
  const std::int64_t classes = r.in(0).shape[-1], rows = r.in(1).numel();
  const std::int64_t* labels = r.saved(2).values<std::int64_t>();
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const T* x = r.saved(0).values<T>();
    const T* total = r.saved(1).values<T>();
    const GradientOfLosses<T> dl(attributes.reduction, attributes.counted, r.grad_out<T>());
    const GradientSlot<T> dx = r.grad_in<T>(0);
    for_each_row(rows, classes, [&](std::int64_t row) {
      const GradientSlot<T> of_row{dx.values + row * classes, dx.add};
      if (labels[row] == attributes.ignore_index)
        of_row.put(classes, [](std::int64_t) { return T(0); });
      else
        put_gradient(x + row * classes, total[row], dl(row), labels[row], classes, of_row);
    });
  });
}

void soft_backward(Record& r) {
  const Attributes attributes = r.attributes<Attributes>();
  const std::int64_t classes = r.in(0).shape[-1], rows = r.saved(1).numel();
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    using std::exp;
    const T* x = r.saved(0).values<T>();
    const T* total = r.saved(1).values<T>();
    const T* t = r.saved(2).values<T>();
    const GradientOfLosses<T> dl(attributes.reduction, attributes.counted, r.grad_out<T>());
    if (r.wants(0)) {
      const GradientSlot<T> dx = r.grad_in<T>(0);
      for (std::int64_t row = 0; row < rows; ++row) {
        const T* target = t + row * classes;
        const T mass = ordered_sum<T>(classes, [=](std::int64_t c) { return target[c]; });
        GradientSlot<T>{dx.values + row * classes, dx.add}.put(classes, [=](std::int64_t c) {
          return dl(row) * (exp(x[row * classes + c] - total[row]) * mass - target[c]);
        });
      }
    }
    if (r.wants(1))
      r.grad_in<T>(1).put(rows * classes,
                          [=](std::int64_t k) { return dl(k / classes) * (total[k / classes] - x[k]); });
  });
}

template <class T> void sums_of_rows(const Tensor& logits, const Tensor& sums) {
  const std::int64_t classes = logits.dim(-1);
  const T* x = logits.values<T>().data();
  T* to = sums.mutable_values<T>().data();
  parallel_for(sums.numel(), grain / (classes + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    kernels::run<T>(&kernels::KernelTable::log_sum_exp, kernels::log_sum_exp_plain<T>,
                    {.x = x + begin * classes, .sums = to + begin, .rows = end - begin, .length = classes});
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
    const auto [like_targets, like_logits] = with_tangents(info.name, logits, targets, "logits", "targets");
    return soft_cross_entropy(like_targets, like_logits, reduction);
  }
  Tensor y, total;
  const Shape rows = logits.shape().first(logits.rank() - 1);
  const std::int64_t classes = logits.dim(-1);
  const double counted = static_cast<double>(rows.numel());
  dispatch_real(logits, "logits", info.name, [&](auto zero) {
    using T = decltype(zero);
    total = empty(rows, logits.dtype());
    sums_of_rows<T>(logits, total);
    y = empty(reduction == Reduction::none ? rows : Shape{}, logits.dtype());
    const T *x = logits.values<T>().data(), *t = targets.values<T>().data(), *sum = total.values<T>().data();
    reduce_losses(reduction, rows.numel(), counted, y.mutable_values<T>().data(), [=](std::int64_t row) {
      return ordered_sum<T>(classes, [=](std::int64_t c) {
        const T target = t[row * classes + c];
        return target == T(0) ? T(0) : target * (sum[row] - x[row * classes + c]);  // 0 (-inf) is 0 here
      });
    });
  });
  record(soft_info, soft_backward, {&logits, &targets}, {&y}, {&logits, &total, &targets},
         Attributes{reduction, {}, counted});
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
  check_defined(info.name, logits, "logits");
  check_defined(info.name, targets, "targets");
  if (targets.dtype() != i64) {
    check_soft_targets(logits, targets);
    check_class_options(info.name, "logits", logits, options);
    if (are_plain(options)) return soft_cross_entropy(logits, targets, options.reduction);
    check_dtypes(info.name, logits, targets, "logits", "targets");
    return soft_cross_entropy(logits, weighted_soft_targets(targets, options), options.reduction);
  }
  const double counted = check_labels(info.name, "logits", logits, targets, options.ignore_index);
  check_real(info.name, logits, "logits");
  check_class_options(info.name, "logits", logits, options);
  if (expand_fused()) return nll(log_softmax(logits), targets, options);
  if (!are_plain(options)) return weighted_cross_entropy(logits, targets, options);
  const std::int64_t classes = logits.dim(-1);
  const std::int64_t* labels = targets.values<std::int64_t>().data();
  Tensor y, total;
  dispatch_real(logits.dtype(), info.name, [&](auto zero) {
    using T = decltype(zero);
    total = empty(targets.shape(), logits.dtype());
    sums_of_rows<T>(logits, total);
    y = empty(options.reduction == Reduction::none ? targets.shape() : Shape{}, logits.dtype());
    const T *x = logits.values<T>().data(), *sum = total.values<T>().data();
    reduce_losses(options.reduction, targets.numel(), counted, y.mutable_values<T>().data(), [=](std::int64_t row) {
      return labels[row] == options.ignore_index ? T(0) : sum[row] - x[row * classes + labels[row]];
    });
  });
  record(info, backward, {&logits, &targets}, {&y}, {&logits, &total, &targets},
         Attributes{options.reduction, options.ignore_index, counted});
  return y;
}

}  // namespace retrace
