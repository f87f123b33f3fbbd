// The subjects of `retrace study`: small computations at random points, and the reader's own
// registered models.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/models/study/computation.h>

namespace retrace {

/// The sizes of a subject of study.
struct StudyOptions {
  std::int64_t tokens = 4;  // T: rows of attention, steps of a recurrent network
  std::int64_t size = 8;    // features of a row, hidden units, features of a slot
  std::int64_t slots = 3;   // of a relational memory
  std::int64_t heads = 2;
  bool causal = false;  // of attention and multi-head-attention: a row sees only itself and those before it
  Dtype dtype = f64;
  std::uint64_t seed = 0;
  bool expand_fused = true;  // show the composed twin of each fused op
  std::int64_t max_elements = TraceOptions().max_elements;
};

/// "softmax", "layer-norm", "attention", ..., then the reader's registered models.
std::vector<std::string_view> subject_names();
/// The options of this subject by the names of their flags, "tokens", "size", ...; those that all have, dtype and seed,
/// are not among them. Empty for a name that is not known.
std::span<const std::string_view> options_of_subject(std::string_view name);
/// The options that a subject may have.
std::span<const std::string_view> options_of_subjects();
/// A subject at a random point, with a random cotangent of its result, if that has several elements. Its inputs want
/// gradients, too. Throws ValueError with the nearest name for a subject that is not known, and ShapeError for sizes
/// that do not fit.
Computation subject(std::string_view name, const StudyOptions& options = {});
/// One forward and one backward of a subject.
Trace study(std::string_view name, const StudyOptions& options = {});

}  // namespace retrace
