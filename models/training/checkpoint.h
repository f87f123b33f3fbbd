// A training on disk, from which it goes on as if it had never stopped.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <retrace/core/files/safetensors.h>
#include <retrace/core/tensor/random.h>
#include <retrace/models/training/metrics.h>
#include <retrace/models/training/training.h>

namespace retrace {

/// The state of a training beside its tensors.
struct TrainingState {
  std::int64_t step = 0;
  CurriculumState curriculum = {};
  std::int64_t best_step = 0;
  std::int64_t best_lesson = 0;
  Evaluation best = {};
  std::int64_t without_gain = 0;  // validations since the best one
  std::int64_t window_steps = 0;  // since the last validation ...
  double window_loss = 0;         // ... and the sum of their losses
  double seconds = 0;
  double reference_loss = std::numeric_limits<double>::quiet_NaN();  // Training::reference_loss before the first step
};

/// Writes the tensors, the standing, and `run`, a description of the training; and that of the model, if there is one.
/// An older file is replaced as a whole or left unchanged, even if the program is killed. Throws FileError if the
/// system refuses.
void save_checkpoint(const std::string& path, const std::vector<NamedTensor>& tensors, const TrainingState& standing,
                     const std::string& run, const ModelDescription& model = {});
/// Copies the tensors of the file into those given. Throws FileError for a file that is not a checkpoint, and
/// ValueError for a checkpoint of another run, of another task or model (where both are known), or with other tensors.
/// Either error names the file and leaves everything unchanged.
TrainingState load_checkpoint(const std::string& path, const std::vector<NamedTensor>& tensors, const std::string& run,
                              const ModelDescription& model = {});
/// The standing of the training when the file at `path` was written, and its number of steps. Both throw FileError for
/// a file that is not a checkpoint.
TrainingState standing_in(const SafetensorsFile& file, const std::string& path);
std::int64_t step_of_checkpoint(const std::string& path);

/// The file of a stored model: the path itself, or weights.safetensors in that folder, or its checkpoint.safetensors.
/// Nothing if the folder has neither.
std::optional<std::string> stored_weights_file(const std::string& path);
/// The weights of a stored model.
struct StoredWeights {
  std::vector<NamedTensor> tensors;
  std::int64_t step = 0;  // of a checkpoint: after which it was written; 0 for weights
};
/// All tensors of a file of weights; of a checkpoint, the model's best ones so far, or the latest ones if none were
/// validated. Throws FileError as standing_in does.
StoredWeights weights_in(const SafetensorsFile& file, const std::string& path);
/// For the model that these weights are assigned to: draws nothing, and throws ValueError for one that is larger.
Random random_for(const std::vector<NamedTensor>& weights);

}  // namespace retrace
