// Splits samples into a training set and a test set, once or as often as there are folds.
#pragma once

#include <cstdint>
#include <vector>

#include <retrace/core/tensor/random.h>

namespace retrace {

/// Positions of samples, i64: take(x, split.train) are the samples to train on.
struct Split {
  Tensor train;
  Tensor test;
};

/// The first samples * test_part (rounded down) of 0 .. samples - 1 in random order are the test, the others are
/// trained on; each is in one of them. Throws ValueError for a negative number of samples and a part outside [0, 1].
Split split(std::int64_t samples, double test_part, Random& random);

/// split() in which every one of the labels [samples] (i64) has its share of the test samples: of n samples with one
/// label, n * test_part, rounded down or up. The labels themselves may be any. Throws what split()
/// throws; ShapeError and DtypeError for other labels.
Split stratified_split(const Tensor& labels, double test_part, Random& random);

/// k splits of samples in random order: each sample is in the test of one of them, and the sizes of the tests differ
/// by 1 at most. Throws ValueError for fewer than 2 folds, or samples than folds.
std::vector<Split> k_fold(std::int64_t samples, std::int64_t folds, Random& random);

/// The same, but the tests also have equally many samples of each label, to within 1. Throws what k_fold() throws;
/// ShapeError and DtypeError for labels that are not [samples], i64.
std::vector<Split> stratified_k_fold(const Tensor& labels, std::int64_t folds, Random& random);

}  // namespace retrace
