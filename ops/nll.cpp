#include <retrace/ops/loops/loss.h>

namespace retrace {
namespace {

struct Attributes {
  CrossEntropyOptions options;
  double counted;
};

Formulas formulas(const Record& r) {
  const auto& [options, counted] = r.attributes<Attributes>();
  const std::string where = ignoring(options.ignore_index);
  return {text(r.op().forward, where, reduced_formula(options.reduction, counted)),
          text(gradient_of_loss_formula(options.reduction, counted), ", ", r.op().backward, where)};
}
AttributeList attribute_list(const Record& r) { return label_loss_attributes(r.attributes<Attributes>().options); }
constexpr OpInfo info{"nll", "l[i] = -logp[i, t[i]]", "dlogp[i, t[i]] += -dl[i]", "logp, t", formulas, attribute_list};

void backward(Record& r) {
  const Attributes attributes = r.attributes<Attributes>();
  const std::int64_t classes = r.in(0).shape[-1];
  const std::int64_t* labels = r.saved(0).values<std::int64_t>();
  dispatch_real(r.in(0).dtype, info.name, [&](auto zero) {
    using T = decltype(zero);
    const GradientOfLosses<T> dl(attributes.options.reduction, attributes.counted, r.grad_out<T>());
    T* dx = r.grad_in<T>(0, Begin::zeroed).values;
    for (std::int64_t row = 0; row < r.in(1).numel(); ++row)
      if (labels[row] != attributes.options.ignore_index) dx[row * classes + labels[row]] -= dl(row);
  });
}

}  // namespace

Tensor nll(const Tensor& log_probabilities, const Tensor& targets, CrossEntropyOptions options) {
  check_defined(info.name, log_probabilities, "logp");
  check_defined(info.name, targets, "targets");
  const double counted = check_labels(info.name, "logp", log_probabilities, targets, options.ignore_index);
  const std::int64_t classes = log_probabilities.dim(-1);
  const std::int64_t* labels = targets.values<std::int64_t>().data();
  Tensor y;
  dispatch_real(log_probabilities, "logp", info.name, [&](auto zero) {
    using T = decltype(zero);
    y = empty(options.reduction == Reduction::none ? targets.shape() : Shape{}, log_probabilities.dtype());
    const T* x = log_probabilities.values<T>().data();
    reduce_losses(options.reduction, targets.numel(), counted, y.mutable_values<T>().data(), [=](std::int64_t row) {
      return labels[row] == options.ignore_index ? T(0) : -x[row * classes + labels[row]];
    });
  });
  record(info, backward, {&log_probabilities, &targets}, {&y}, {&targets}, Attributes{options, counted});
  return y;
}

}  // namespace retrace
