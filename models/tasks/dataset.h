// A task made from the user's own data.
#pragma once

#include <retrace/models/data/pad.h>
#include <retrace/models/tasks/sample_task.h>

namespace retrace {

/// Which samples are held out, and what is known of them.
struct DatasetOptions {
  Tensor lengths = {};                          // [N] (i64): the rows of each sample; undefined: all T
  std::int64_t buckets = 8;                     // of similar lengths, of which each batch is drawn from one
  double validation_part = 0.1;                 // of all samples, at least one
  double test_part = 0.2;                       // of all samples, at least one
  std::int64_t classes = 0;                     // of labels; 0: the largest label + 1
  std::uint64_t seed = 0;                       // of the split into parts, so that it is the same for every training
  bool stratified = false;                      // labels: each has its share of the parts
  std::optional<Normalisation> normalise = {};  // x, and the numbers y of a regression, by the samples to train on;
                                                // not given: the model sees them as they are
  std::optional<SampleFormat> format = {};  // words for reports, and how `retrace predict` reads other samples; sizes
                                            // and scales are filled in
  std::vector<std::string> places = {};     // of the samples, for reports: "line 12"; empty: "x[0]", "x[1]", ...
  std::vector<std::string> remarks = {};    // what the user should know of the data, a line each
};

/// Sequences x [N, T, I] (f32 or f64) and the answers after their last row: labels y [N] (i64, from 0) of a
/// classification; numbers y [N, O], or [N] for O = 1, of a regression. Or an answer after every row: labels y [N, T]
/// (no_answer where there is none), numbers y [N, T, O]. A batch draws samples to train on, each as likely as the
/// others, with repetition; validation and test samples are never among them, and every one of them is used.
///
/// With lengths, what follows the last row of a sample in x and y is padding, which is not read. The samples to train
/// on are sorted into buckets by length, and a batch comes from one bucket, so that its lengths are similar.
///
/// Baselines are measured on the test samples. trivial: the most frequent label, or the mean, of the samples to train
/// on. chance: 1 / classes, or the answer of another sample. ceiling: no error at all, because the best possible result
/// is unknown.
class Dataset final : public SampleTask {
 public:
  /// Throws ShapeError, DtypeError and ValueError for tensors of other shapes or dtypes, for fewer samples than parts,
  /// for numbers that are not finite, and for parts that leave nothing to train on; IndexError for a label outside its
  /// classes.
  Dataset(std::string_view name, const Tensor& x, const Tensor& y, const DatasetOptions& options = {});
  /// Sequences of different lengths as data/pad.h pads them.
  Dataset(std::string_view name, const PaddedBatch& x, const Tensor& y, DatasetOptions options = {});
  /// Other samples of a stored format, in their own units, all of them to test on. Throws likewise, and ShapeError for
  /// samples that do not have the format's sizes.
  Dataset(std::string_view name, const SampleFormat& format, const FileSamples& samples, const Tensor& y);

  Baselines baselines() const override;
  std::optional<HeldOut> held_out() const override { return held_out_; }
  std::string fingerprint() const override;
  /// With the sizes, and with the scales of the samples to train on. Null if neither a format nor a scale was asked
  /// for.
  const SampleFormat* format() const override { return has_format_ ? &format_ : nullptr; }
  std::vector<std::string> remarks() const override { return remarks_; }
  /// The samples that batches are drawn from.
  const Batch& train() const { return train_; }

 private:
  void fill(Random& random, const Batch& batch) const override;
  Tensor rows_of_a_bucket(Random& random, std::int64_t count) const;
  bool has_samples() const { return train_.x.defined(); }
  Batch without_padding(const Tensor& x, const Tensor& y, const Tensor& lengths) const;
  /// Measures the samples to train on, and scales all samples if that is wanted.
  void measure(const std::optional<Normalisation>& wanted);
  void scale(Batch& part) const;
  void name_targets();
  Tensor answers_of(const Batch& part) const;

  Batch train_ = {};
  HeldOut held_out_ = {};
  std::int64_t buckets_;
  bool has_format_;
  std::vector<std::string> remarks_ = {};
};

}  // namespace retrace
