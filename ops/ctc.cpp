#include <retrace/ops/loops/ids.h>
#include <retrace/ops/loops/loss.h>

namespace retrace {
namespace {

// a is a path: a class for each step, which reads as the labels once repetitions and then blanks are left out.
Formulas ctc_formulas(const Record& r) {
  const CtcOptions& options = r.attributes<CtcOptions>();
  const auto rows = static_cast<double>(r.in(2).numel());
  const bool is_mean = options.reduction == Reduction::mean;
  const std::string share = is_mean ? " / max(m[i], 1)" : "";
  return {text("p[i, a] = prod_j e^x[i, j, a[j]], l[i] = -ln(sum_a p[i, a])", share,
               reduced_formula(options.reduction, rows)),
          text(gradient_of_loss_formula(options.reduction, rows), ", dx[i, j, c] = -dl[i]", share,
               " (sum_a [a[j] = c] p[i, a]) / sum_a p[i, a]")};
}
AttributeList ctc_attributes(const Record& r) {
  const CtcOptions& options = r.attributes<CtcOptions>();
  AttributeList list = loss_attributes(options.reduction);
  list.push_back({"blank", options.blank});
  list.push_back({"zero_infinity", options.zero_infinity});
  return list;
}
constexpr OpInfo ctc_info{"ctc",
                          "p[i, a] = prod_j e^x[i, j, a[j]], l[i] = -ln(sum_a p[i, a])",
                          "dx[i, j, c] = -dl[i] (sum_a [a[j] = c] p[i, a]) / sum_a p[i, a]",
                          "x, t, n, m",
                          ctc_formulas,
                          ctc_attributes};

template <class W> W log_of_zero() { return static_cast<W>(-std::numeric_limits<double>::infinity()); }

/// ln(e^a + e^b).
template <class W> W log_add(W a, W b) {
  if (a < b) std::swap(a, b);
  return b == log_of_zero<W>() ? a : a + log1p(exp(b - a));
}

/// One sample: its log-probabilities x [steps, classes], and the states of its paths: blank, label, blank, ..., blank.
/// Sums of path probabilities are kept as logarithms, in f64 for f32.
template <class T> struct CtcSample {
  using W = Wide<T>;
  const T* x;
  std::int64_t steps, classes;
  const std::int64_t* labels;
  std::int64_t label_count, blank;

  std::int64_t states() const { return 2 * label_count + 1; }
  std::int64_t label(std::int64_t state) const { return state % 2 == 0 ? blank : labels[state / 2]; }
  W logp(std::int64_t step, std::int64_t state) const { return static_cast<W>(x[step * classes + label(state)]); }
  /// A path may leave out the blank between two labels that differ.
  bool may_skip_to(std::int64_t state) const {
    return state % 2 == 1 && state >= 3 && labels[state / 2] != labels[state / 2 - 1];
  }

  /// alpha [steps, states]: ln of the sum over the beginnings of paths that are in this state after this step.
  void forward(W* alpha) const {
    for (std::int64_t t = 0; t < steps; ++t) {
      W* const here = alpha + t * states();
      const W* const before = here - states();
      for (std::int64_t s = 0; s < states(); ++s) {
        W sum = t == 0 && s < 2 ? W(0) : log_of_zero<W>();
        if (t > 0) {
          sum = before[s];
          if (s > 0) sum = log_add(sum, before[s - 1]);
          if (may_skip_to(s)) sum = log_add(sum, before[s - 2]);
        }
        here[s] = sum + logp(t, s);
      }
    }
  }
  /// ln of the sum over all paths, which end in the last label or in the blank after it.
  W total(const W* alpha) const {
    if (steps == 0) return label_count == 0 ? W(0) : log_of_zero<W>();
    const W* const last = alpha + steps * states() - 1;
    return label_count == 0 ? last[0] : log_add(last[0], last[-1]);
  }
  /// dx -= dl times the share of the paths that are in each class at each step. beta [states]: ln of the sum over the
  /// ends of paths that begin after this step, in place from step to step.
  void backward(const W* alpha, W* beta, T dl, T* dx) const {
    const W all = total(alpha);
    if (all == log_of_zero<W>()) return;
    for (std::int64_t t = steps - 1; t >= 0; --t) {
      for (std::int64_t s = 0; s < states(); ++s) {
        if (t == steps - 1) {
          beta[s] = s >= states() - 2 ? W(0) : log_of_zero<W>();
        } else {
          W sum = beta[s] + logp(t + 1, s);
          if (s + 1 < states()) sum = log_add(sum, beta[s + 1] + logp(t + 1, s + 1));
          if (s + 2 < states() && may_skip_to(s + 2)) sum = log_add(sum, beta[s + 2] + logp(t + 1, s + 2));
          beta[s] = sum;
        }
        dx[t * classes + label(s)] -= dl * static_cast<T>(exp(alpha[t * states() + s] + beta[s] - all));
      }
    }
  }
};

/// The samples of a batch: x [rows, time, classes], labels [rows, width].
template <class T> struct CtcBatch {
  const T* x;
  std::int64_t rows, time, classes, width;
  const std::int64_t *labels, *steps, *label_counts;
  CtcOptions options;

  CtcBatch(const T* values, const Shape& shape, std::int64_t most_labels, const std::int64_t* targets,
           const std::int64_t* input_lengths, const std::int64_t* target_lengths, const CtcOptions& o)
      : x(values),
        rows(shape.first(shape.rank() - 2).numel()),
        time(shape[-2]),
        classes(shape[-1]),
        width(most_labels),
        labels(targets),
        steps(input_lengths),
        label_counts(target_lengths),
        options(o) {}
  CtcSample<T> operator[](std::int64_t row) const {
    return {x + row * time * classes, steps[row], classes, labels + row * width, label_counts[row], options.blank};
  }
  /// What the loss of a row is divided by before the mean over the rows.
  T share(std::int64_t row) const {
    const std::int64_t labels_of_row = options.reduction == Reduction::mean ? label_counts[row] : 1;
    return static_cast<T>(static_cast<double>(std::max<std::int64_t>(labels_of_row, 1)));
  }
  std::int64_t states_of_row() const { return time * (2 * width + 1); }
  std::int64_t grain() const { return 1024 / (states_of_row() + 1) + 1; }
};

void ctc_backward(Record& r) {
  const CtcOptions& options = r.attributes<CtcOptions>();
  dispatch_real(r.in(0).dtype, ctc_info.name, [&]<class T>(T) {
    using W = Wide<T>;
    const CtcBatch<T> batch(r.saved(0).values<T>(), r.in(0).shape, r.in(1).shape[-1], r.saved(1).values<std::int64_t>(),
                            r.saved(2).values<std::int64_t>(), r.saved(3).values<std::int64_t>(), options);
    const W* alpha = r.saved(4).values<W>();
    const GradientOfLosses<T> dl(options.reduction, static_cast<double>(batch.rows), r.grad_out<T>());
    T* dx = r.grad_in<T>(0, Begin::zeroed).values;
    parallel_for(batch.rows, batch.grain(), [&](std::int64_t begin, std::int64_t end) {
      const Tensor beta = empty({2 * batch.width + 1}, dtype_of<W>);
      for (std::int64_t row = begin; row < end; ++row)
        batch[row].backward(alpha + row * batch.states_of_row(), OpAccess::values<W>(beta), dl(row) / batch.share(row),
                            dx + row * batch.time * batch.classes);
    });
  });
}

void check_ctc_labels(const Tensor& targets, const Tensor& lengths, std::int64_t classes, std::int64_t blank) {
  const std::int64_t width = targets.dim(-1);
  const std::int64_t *labels = targets.values<std::int64_t>().data(), *counts = lengths.values<std::int64_t>().data();
  for (std::int64_t position = 0; position < targets.numel(); ++position) {
    const std::int64_t label = labels[position];
    if (position % width >= counts[position / width] || (label >= 0 && label < classes && label != blank)) continue;
    throw IndexError(text("ctc: label ", label, " at position ", position, " of ", describe_operand("targets", targets),
                          label == blank ? " is the blank" : text(" is outside 0 to ", classes - 1),
                          "; check the labels and target_lengths"));
  }
}

void check_ctc(const Tensor& x, const Tensor& targets, const Tensor& input_lengths, const Tensor& target_lengths,
               std::int64_t blank) {
  check_defined("ctc", {{&x, "log_probabilities"},
                        {&targets, "targets"},
                        {&input_lengths, "input_lengths"},
                        {&target_lengths, "target_lengths"}});
  const int lead = x.rank() - 2;
  if (lead < 0 || targets.rank() != lead + 1 || targets.shape().first(lead) != x.shape().first(lead) ||
      input_lengths.shape() != x.shape().first(lead) || target_lengths.shape() != x.shape().first(lead))
    throw ShapeError(text("ctc: ", describe_operand("log_probabilities", x), ", ", describe_operand("targets", targets),
                          ", ", describe_operand("input_lengths", input_lengths), " and ",
                          describe_operand("target_lengths", target_lengths),
                          " must be [..., T, C], [..., S], [...] and [...]; reshape or pad them, batch first"));
  check_real("ctc", x, "log_probabilities");
  for (const auto& [tensor, role] : {NamedOperand{&targets, "targets"}, NamedOperand{&input_lengths, "input_lengths"},
                                     NamedOperand{&target_lengths, "target_lengths"}})
    check_integers("ctc", *tensor, role, "labels and lengths");
  check_lengths("ctc", input_lengths, "input_lengths", x.dim(-2));
  check_lengths("ctc", target_lengths, "target_lengths", targets.dim(-1));
  if (blank < 0 || blank >= x.dim(-1))
    throw IndexError(text("ctc: the blank is ", blank, ", but the classes of ",
                          describe_operand("log_probabilities", x), " are 0 to ", x.dim(-1) - 1));
  check_ctc_labels(targets, target_lengths, x.dim(-1), blank);
}

}  // namespace

Tensor ctc(const Tensor& log_probabilities, const Tensor& targets, const Tensor& input_lengths,
           const Tensor& target_lengths, const CtcOptions& options) {
  check_ctc(log_probabilities, targets, input_lengths, target_lengths, options.blank);
  Tensor y, alpha;
  dispatch_real(log_probabilities.dtype(), ctc_info.name, [&]<class T>(T) {
    using W = Wide<T>;
    const CtcBatch<T> batch(log_probabilities.values<T>().data(), log_probabilities.shape(), targets.dim(-1),
                            targets.values<std::int64_t>().data(), input_lengths.values<std::int64_t>().data(),
                            target_lengths.values<std::int64_t>().data(), options);
    alpha = empty({batch.rows, batch.states_of_row()}, dtype_of<W>, ctc_info.name);
    W* const sums = OpAccess::values<W>(alpha);
    parallel_for(batch.rows, batch.grain(), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row) batch[row].forward(sums + row * batch.states_of_row());
    });
    y = empty(options.reduction == Reduction::none ? input_lengths.shape() : Shape{}, log_probabilities.dtype());
    reduce_losses(options.reduction, batch.rows, static_cast<double>(batch.rows), OpAccess::values<T>(y),
                  [&](std::int64_t row) {
                    const W total = batch[row].total(sums + row * batch.states_of_row());
                    if (total == log_of_zero<W>())
                      return static_cast<T>(options.zero_infinity ? 0 : -log_of_zero<double>());
                    return static_cast<T>(-total) / batch.share(row);
                  });
  });
  record(ctc_info, ctc_backward, {&log_probabilities, &targets, &input_lengths, &target_lengths}, {&y},
         {&log_probabilities, &targets, &input_lengths, &target_lengths, &alpha}, options);
  return y;
}

}  // namespace retrace
