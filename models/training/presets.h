// Trainings that have a name: a task with its options, a model, and all that differs from the task's recipe.
#pragma once

#include <span>
#include <string_view>

#include <retrace/models/training/run.h>

namespace retrace {

/// nth-farthest-paper: 8 vectors of 16 dimensions, as in Santoro et al., Relational recurrent neural networks (2018),
/// by an rmc with a slot for each vector; 17.9 million samples, 3.7 million of them of lessons.
/// models/checkpoints/nth-farthest-paper.safetensors has the weights of a second training that started from its own.
std::span<const std::string_view> preset_names();
/// Throws ValueError, with the nearest right name, for a preset that is not known.
RunOptions preset(std::string_view name);

}  // namespace retrace
