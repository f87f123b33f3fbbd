// Targets of the losses of classes, as label smoothing and class weights change them.
#pragma once

#include <retrace/ops/ops.h>

namespace retrace {

/// Whether the labels stay what they are.
inline bool are_plain(const CrossEntropyOptions& options) {
  return options.label_smoothing == 0 && !options.class_weights.defined();
}

/// Throws ValueError, ShapeError or DtypeError if the smoothing or the weights do not fit scores [..., C].
void check_class_options(const char* function, const char* role, const Tensor& scores,
                         const CrossEntropyOptions& options);

struct WeightedTargets {
  Tensor q;        // [..., C], in the dtype of the scores: w_c ((1 - e) [c = t] + e / C), and 0 for an ignored row
  double counted;  // the sum of w_t over the rows that are not ignored, by which the mean divides
};
/// Of labels that are checked, for the scores of a loss.
WeightedTargets weighted_targets(const Tensor& scores, const Tensor& labels, const CrossEntropyOptions& options);

/// The scores with 0 in ignored rows, whatever is there, and no gradient of them; recorded.
Tensor without_ignored_rows(const Tensor& scores, const Tensor& labels, const CrossEntropyOptions& options);

/// w_c ((1 - e) t_c + e / C) of soft targets; recorded.
Tensor weighted_soft_targets(const Tensor& targets, const CrossEntropyOptions& options);

/// The losses of labels, from those of each row: as they are, their sum, or their sum divided by `counted`.
Tensor reduced_rows(const Tensor& losses, Reduction reduction, double counted);

}  // namespace retrace
