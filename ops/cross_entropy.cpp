#include <cmath>
#include <limits>

#include <retrace/core/base/parallel.h>
#include <retrace/core/tensor/dual.h>
#include <retrace/core/tensor/op_access.h>
#include <retrace/ops/kernels/run.h>
#include <retrace/ops/loops/loss.h>
#include <retrace/ops/loops/ordered_sum.h>
#include <retrace/ops/loops/weighted_targets.h>

namespace retrace {

// max x, ln sum_c e^(x[c] - max x) and 1 / sum_c e^(x[c] - max x) of each row.
template <class T> void plain::log_sum_exp(const LogSumExpRows<T>& args) {
  using std::exp, std::log;
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
  using std::exp;
  GradientSlot<T>{args.y, args.add}.put(args.count,
                                        [=](std::int64_t k) { return args.factor * exp(args.x[k] - args.shift); });
}

RETRACE_INSTANTIATE_PLAIN(log_sum_exp, LogSumExpRows);
RETRACE_INSTANTIATE_PLAIN(scaled_exp, ScaledExp);

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

/// -log_softmax of rows of logits. The maximum is kept beside ln sum e^(x - max x): their sum would round away what the
/// second adds to a large maximum.
template <class T> class ClassLosses {
 public:
  /// `sums` [3, rows]: the results of LogSumExpRows, one after the other.
  ClassLosses(const T* x, const T* sums, std::int64_t rows, std::int64_t classes)
      : x_(x), max_x_(sums), log_sums_(sums + rows), inverse_sums_(sums + 2 * rows), classes_(classes) {}
  T operator()(std::int64_t row, std::int64_t c) const {
    return log_sums_[row] - (x_[row * classes_ + c] - max_x_[row]);
  }

  /// The gradient of the loss of a row, dl (softmax(x) - [c = label]).
  void put_gradient(std::int64_t row, std::int64_t label, T dl, const GradientSlot<T>& dx) const {
    using std::exp, std::expm1;
    const T before = dx.add ? dx.values[label] : T(0);
    kernels::run<T>(&kernels::KernelTable::scaled_exp, plain::scaled_exp<T>,
                    {.x = x_ + row * classes_,
                     .shift = max_x_[row],
                     .factor = dl * inverse_sums_[row],
                     .y = dx.values,
                     .count = classes_,
                     .add = dx.add});
    const T loss = (*this)(row, label);  // softmax - 1, which cancels where the softmax is nearly 1
    dx.values[label] = before + dl * (loss > T(0.5) ? exp(-loss) - T(1) : expm1(-loss));
  }

 private:
  const T *x_, *max_x_, *log_sums_, *inverse_sums_;
  std::int64_t classes_;
};

void backward(Record& r) {
  const Attributes attributes = r.attributes<Attributes>();
  const std::int64_t classes = r.in(0).shape[-1], rows = r.in(1).numel();
  const std::int64_t* labels = r.saved(2).values<std::int64_t>();
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
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
  const Attributes attributes = r.attributes<Attributes>();
  const std::int64_t classes = r.in(0).shape[-1], rows = r.saved(1).shape()[1];
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    using std::exp;
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

/// The sums of ClassLosses.
template <class T> Tensor sums_of_rows(const Tensor& logits, std::int64_t rows) {
  const std::int64_t classes = logits.dim(-1);
  Tensor sums = empty({3, rows}, logits.dtype(), info.name);
  const T* x = logits.values<T>().data();
  T* to = OpAccess::values<T>(sums);
  parallel_for(rows, grain / (classes + 1) + 1, [=](std::int64_t begin, std::int64_t end) {
    kernels::run<T>(&kernels::KernelTable::log_sum_exp, plain::log_sum_exp<T>,
                    {.x = x + begin * classes,
                     .max_x = to + begin,
                     .log_sums = to + rows + begin,
                     .inverse_sums = to + 2 * rows + begin,
                     .rows = end - begin,
                     .length = classes});
  });
  return sums;
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
  Tensor y, sums;
  const Shape shape = logits.shape().first(logits.rank() - 1);
  const std::int64_t classes = logits.dim(-1), rows = shape.numel();
  const double counted = static_cast<double>(rows);
  dispatch_real(logits, "logits", info.name, [&](auto zero) {
    using T = decltype(zero);
    sums = sums_of_rows<T>(logits, rows);
    y = empty(reduction == Reduction::none ? shape : Shape{}, logits.dtype());
    const ClassLosses<T> loss(logits.values<T>().data(), sums.values<T>().data(), rows, classes);
    using std::isfinite;
    const T* t = targets.values<T>().data();
    reduce_losses(reduction, rows, counted, OpAccess::values<T>(y), [=](std::int64_t row) {
      return ordered_sum<T>(classes, [=](std::int64_t c) {
        const T target = t[row * classes + c], of_class = loss(row, c);
        return target == T(0) && !isfinite(of_class) ? T(0) : target * of_class;  // 0 (-inf) is 0 here
      });
    });
  });
  record(soft_info, soft_backward, {&logits, &targets}, {&y}, {&logits, &sums, &targets},
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
  if (expand_fused()) return nll(log_softmax(without_ignored_rows(logits, targets, options)), targets, options);
  if (!are_plain(options)) return weighted_cross_entropy(logits, targets, options);
  const std::int64_t classes = logits.dim(-1), rows = targets.numel();
  const std::int64_t* labels = targets.values<std::int64_t>().data();
  Tensor y, sums;
  dispatch_real(logits.dtype(), info.name, [&](auto zero) {
    using T = decltype(zero);
    sums = sums_of_rows<T>(logits, rows);
    y = empty(options.reduction == Reduction::none ? targets.shape() : Shape{}, logits.dtype());
    const ClassLosses<T> loss(logits.values<T>().data(), sums.values<T>().data(), rows, classes);
    reduce_losses(options.reduction, rows, counted, OpAccess::values<T>(y), [=](std::int64_t row) {
      return labels[row] == options.ignore_index ? T(0) : loss(row, labels[row]);
    });
  });
  record(info, backward, {&logits, &targets}, {&y}, {&logits, &sums, &targets},
         Attributes{options.reduction, options.ignore_index, counted});
  return y;
}

}  // namespace retrace
