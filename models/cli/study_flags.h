// The flags of `retrace study`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <retrace/models/cli/commands.h>
#include <retrace/models/study/stored_study.h>
#include <retrace/models/study/subjects.h>

namespace retrace {

struct StudyFlags : CommonFlags {
  std::vector<std::string> given = {};  // flags of the command line, without their dashes
  std::string command = {};             // that shows the same again, without the files that it writes
  std::string subject;                  // of subject_names(), a folder, weights or a trace; empty: the expression
  ExpressionFlags expression = {};
  StudyOptions options;
  StoredStudyOptions stored;
  bool fused = false;
  std::string trace_file = {};  // to write the trace to
  bool dot = false;             // prints a drawing
  bool all = false;             // prints every step as text, however many there are
  bool gradient_flow = false;
  std::int64_t check_elements = -1;  // of each leaf; -1: 2 where that is cheap, for small subjects and expressions
};

/// retrace study SUBJECT: shows one forward and one backward.
void run_study(const StudyFlags& flags, Program& program);

}  // namespace retrace
