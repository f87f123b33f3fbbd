// A training loop of your own on disk, from which it goes on as if it had never stopped, byte for byte:
//
//   Random random(7);
//   Model model(random);
//   AdamW adam(model);
//   Ema average(model);
//   std::int64_t epoch = 0;
//   const TrainingParts parts{.parameters = parameters(model), .optimizers = {&adam}, .averages = {&average},
//                             .randoms = {&random}, .numbers = {&epoch}};
//   if (std::filesystem::exists("run.safetensors")) load_training("run.safetensors", parts);
//   for (; adam.steps() < 10000; ...) {
//     ... if (adam.steps() % 1000 == 0) save_training("run.safetensors", parts);
//   }
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <retrace/core/tensor/random.h>
#include <retrace/nn/optim/ema.h>
#include <retrace/nn/optim/optimizer.h>
#include <retrace/nn/optim/reduce_on_plateau.h>

namespace retrace {

/// Everything that changes in a training: the weights, and pointers to the objects that the loop uses. Schedules of the
/// step alone need not be stored. Numbers are what else the loop counts: its epoch, its best loss.
struct TrainingParts {
  std::vector<NamedTensor> parameters;
  std::vector<AnyOptimizer*> optimizers = {};
  std::vector<Ema*> averages = {};
  std::vector<ReduceOnPlateau*> plateaus = {};
  std::vector<Random*> randoms = {};
  std::vector<std::variant<std::int64_t*, double*>> numbers = {};
};

/// Writes all parts to a safetensors file, completely or not at all; an older file is then left as it was. Of an
/// optimiser: its steps, its state and the learning rates in effect; of Ema, ReduceOnPlateau and Random: all but their
/// options. Gradients are not stored, so save between a step and the next backward. Throws FileError if it cannot be
/// written, ValueError for a null pointer, two parameters of one name, and averages that are swapped in.
void save_training(const std::string& path, const TrainingParts& parts);

/// Gives all parts the values of the file. Throws FileError for a file that cannot be read or that save_training did
/// not write; ValueError, which lists all differences, unless it has the same parts: parameters of the same names,
/// shapes and dtypes, optimisers of the same kind with the same parameters and groups, and as many of the others; and
/// what save_training throws. Nothing is changed then.
void load_training(const std::string& path, const TrainingParts& parts);

}  // namespace retrace
