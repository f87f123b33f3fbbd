// Shared by the losses: reductions of one loss per row, and checks of labels.
#pragma once

#include <optional>

#include <retrace/ops/op.h>

namespace retrace {

/// Writes loss(k) for k in [0, count), reduced: their sum, their sum divided by `counted` (0 for nothing), or each.
template <class T, class Loss>
void reduce_losses(Reduction reduction, std::int64_t count, double counted, T* y, Loss&& loss) {
  if (reduction == Reduction::none) {
    for (std::int64_t k = 0; k < count; ++k) y[k] = loss(k);
    return;
  }
  const T total = ordered_sum<T>(count, loss);
  if (reduction == Reduction::sum)
    *y = total;
  else
    *y = counted == 0 ? T(0) : total / static_cast<T>(counted);
}

/// The gradient of each loss, from that of what they were reduced to.
template <class T> class GradientOfLosses {
 public:
  GradientOfLosses(Reduction reduction, double counted, const T* dy)
      : each_(reduction == Reduction::none ? dy : nullptr), same_(each_ == nullptr ? *dy : T(0)) {
    if (reduction == Reduction::mean) same_ = counted == 0 ? T(0) : same_ / static_cast<T>(counted);
  }
  T operator()(std::int64_t k) const { return each_ == nullptr ? same_ : each_[k]; }

 private:
  const T* each_;  // null: all have the same one
  T same_;
};

/// The reduction that follows the formula of the losses l or l[i]: ", y = (sum l) / 4".
inline std::string reduced_formula(Reduction reduction, double counted) {
  if (reduction == Reduction::none) return ", y = l";
  return reduction == Reduction::sum ? ", y = sum l" : counted == 0 ? ", y = 0" : text(", y = (sum l) / ", counted);
}
/// The definition of dl in a backward formula: "dl = dy / 4".
inline std::string gradient_of_loss_formula(Reduction reduction, double counted) {
  if (reduction != Reduction::mean) return "dl = dy";
  return counted == 0 ? "dl = 0" : text("dl = dy / ", counted);
}
/// The constants of a loss: {{"reduction", "mean"}}.
inline AttributeList loss_attributes(Reduction reduction) {
  const char* name = reduction == Reduction::mean ? "mean" : reduction == Reduction::sum ? "sum" : "none";
  return {{"reduction", std::string(name)}};
}
/// The constants of a loss of labels, or of soft targets, which has no label to ignore.
struct LabelLossAttributes {
  Reduction reduction;
  std::optional<std::int64_t> ignore_index;
  double counted;
};
inline Formulas label_loss_formulas(const Record& r) {
  const auto& [reduction, ignored, counted] = r.attributes<LabelLossAttributes>();
  const std::string where = ignored ? text(" where t[i] != ", *ignored, ", else 0") : "";
  return {text(r.op().forward, where, reduced_formula(reduction, counted)),
          text(gradient_of_loss_formula(reduction, counted), ", ", r.op().backward, where)};
}
inline AttributeList label_loss_attributes(const Record& r) {
  const auto& attributes = r.attributes<LabelLossAttributes>();
  AttributeList list = loss_attributes(attributes.reduction);
  if (attributes.ignore_index) list.push_back({"ignore_index", *attributes.ignore_index});
  return list;
}

/// Labels [...] for scores [..., C]. Throws ShapeError, DtypeError or, with position and value, IndexError; returns how
/// many are not ignored.
inline double check_labels(const char* function, const char* role, const Tensor& scores, const Tensor& labels,
                           std::optional<std::int64_t> ignore,
                           const char* remedy = "check the labels, or name it with ignore_index") {
  if (scores.rank() == 0 || labels.shape() != scores.shape().first(scores.rank() - 1))
    throw ShapeError(text(function, ": ", describe_operand(role, scores), " and ", describe_operand("targets", labels),
                          ": labels must have the shape of the scores without the last axis; reshape them"));
  check_integers(function, labels, "targets", "labels");
  const std::int64_t classes = scores.dim(-1);
  double counted = 0;
  std::int64_t position = 0;
  for (const std::int64_t label : labels.values<std::int64_t>()) {
    const bool ignored = ignore && label == *ignore;
    if (!ignored && (label < 0 || label >= classes))
      throw IndexError(text(function, ": label ", label, " at position ", position, " of ",
                            describe_operand("targets", labels), " is outside 0 to ", classes - 1, "; ", remedy));
    counted += ignored ? 0 : 1;
    ++position;
  }
  return counted;
}

}  // namespace retrace
