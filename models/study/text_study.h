// One segment of a text that a model was trained on, to study.
#pragma once

#include <string>

#include <retrace/models/study/stored_study.h>

namespace retrace {

/// The mean cross entropy of a segment of the test text, which the model of the file reads from an empty state, as a
/// training reads its first one. Its leaf x are the embedded tokens; the other leaves are the weights that are used.
/// The examples are the segments of the model's length, in their order. Throws IndexError for one that the text does
/// not have, and as make_text_report does.
Computation computation_of_text(const std::string& file, const StoredStudyOptions& options = {});

}  // namespace retrace
