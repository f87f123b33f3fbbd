// The results of modules, as a tape has recorded them.
#pragma once

#include <string>
#include <vector>

#include <retrace/core/tape/names.h>
#include <retrace/core/tape/tape.h>

namespace retrace {

/// One call of a module.
struct ModuleOutput {
  std::string path;  // of the module: "encoder.layers.0"; empty for the outermost one
  Tensor y;          // the first output of the last op that was recorded in the call
};

/// The results of every module's operator(), one per call, in the order in which the calls ended:
///
///   Tape tape({.keep = true});
///   const Tensor loss = ...;
///   for (const auto& [path, y] : module_outputs(tape, names_of(model))) ...   // y.grad() after the backward
///
/// Modules without a name in `names` go by the labels of their scopes. Throws ValueError unless the tape keeps values.
std::vector<ModuleOutput> module_outputs(const Tape& tape, const Names& names);

}  // namespace retrace
