// What makes a training the one that it is.
#pragma once

#include <string>

#include <retrace/models/training/training.h>

namespace retrace {

/// The description that a checkpoint and the training that resumes from it must share, and the ranks of a training.
std::string run_description(const Training& training);

}  // namespace retrace
