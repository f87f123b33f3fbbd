#include <retrace/ops/loops/composed_loss.h>
#include <retrace/ops/loops/loss.h>
#include <retrace/ops/loops/weighted_targets.h>

namespace retrace {

Tensor multi_margin(const Tensor& x, const Tensor& targets, const MultiMarginOptions& options) {
  check_defined("multi_margin", {{&x, "x"}, {&targets, "targets"}});
  check_labels("multi_margin", "x", x, targets, std::nullopt, "check the labels");
  check_real("multi_margin", x);
  const CrossEntropyOptions weights{.class_weights = options.class_weights};
  check_class_options("multi_margin", "x", x, weights);
  if (options.power != 1 && options.power != 2)
    throw ValueError(text("multi_margin: the power is ", options.power, "; it must be 1 or 2"));
  const Tensor of_label = gather(x, unsqueeze(targets, -1));
  const Tensor errors = relu(options.margin + (x - of_label));
  const Tensor of_classes =
      masked_fill(options.power == 1 ? errors : square(errors), one_hot(targets, x.dim(-1), i64), 0);
  const Tensor losses = mean(of_classes, -1);
  if (are_plain(weights)) return reduced(losses, options.reduction);
  return reduced(losses * sum(weighted_targets(x, targets, weights).q, -1), options.reduction);
}

}  // namespace retrace
