// The commands of the program, as functions of what their flags say.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <retrace/models/checks/checks.h>
#include <retrace/models/reports/comparison/ablation.h>
#include <retrace/models/reports/evaluation/evaluation_report.h>
#include <retrace/models/training/text/generate.h>

namespace retrace {

struct Program {
  std::ostream& results;
  std::ostream& messages;
  bool terminal = false;
  int status = 0;  // what the program returns
};

struct TrainFlags {
  RunOptions run{.task = "", .model = {.name = "lstm"}};
  std::string tokens;  // of a text; empty: characters
  std::string dtype = "f32";
  std::string out;     // empty: nothing is left behind
  int threads = 0;     // 0: every core
  bool force = false;  // replaces earlier results in that folder
  bool json = false;
  bool quiet = false;
};

/// retrace train TASK: trains a model and tests it.
void run_train(const TrainFlags& flags, Program& program);

struct EvalFlags {
  std::string path;  // of a run's folder, weights or checkpoint
  ReportOptions options;
  std::string out;  // empty: nothing is left behind
  int threads = 0;  // 0: every core
  bool json = false;
};

/// retrace eval CKPT: tells what a trained model can do, and how.
void run_eval(const EvalFlags& flags, Program& program);

struct GenerateFlags {
  std::string folder;
  GenerateOptions options;
  bool json = false;
};

/// retrace generate DIR: writes text with the model of a run's folder.
void run_generate(const GenerateFlags& flags, Program& program);

struct CompareFlags {
  CompareOptions compare{.run = {.task = "", .model = {.name = "lstm"}}, .models = {}, .learning_rates = {}};
  std::string match = "none";
  std::string out;     // empty: nothing is left behind
  int threads = 0;     // 0: every core
  bool force = false;  // replaces earlier results in that folder
  bool json = false;
  bool quiet = false;
};

/// retrace compare TASK: trains several models with several seeds and holds them against each other.
void run_compare(const CompareFlags& flags, Program& program);

struct AblateFlags {
  AblateOptions ablate{.run = {.task = "", .model = {.name = "rmc"}}};
  std::string out;     // empty: nothing is left behind
  int threads = 0;     // 0: every core
  bool force = false;  // replaces earlier results in that folder
  bool json = false;
  bool quiet = false;
};

/// retrace ablate TASK: trains a model with each part of its memory left out or resized, one at a time.
void run_ablate(const AblateFlags& flags, Program& program);

struct GradcheckFlags {
  std::vector<std::string> names;  // none: all
  bool json = false;
};

/// retrace gradcheck [NAME...]: checks gradients.
void run_gradcheck(const GradcheckFlags& flags, Program& program);
/// Prints one table row per check, then the failures. Returns whether all passed.
bool print_checks(std::ostream& out, const std::vector<CheckRow>& rows);

struct InfoFlags {
  RunOptions run{.task = "pair-matching", .model = {}};
  bool json = false;
};

/// retrace info MODEL: its parameters and what a step computes.
void run_info(const InfoFlags& flags, Program& program);

struct DemoFlags {
  std::string name;                        // empty: the demo of gradients and training; "all": every named demo
  std::optional<std::int64_t> steps = {};  // of each training; if not given, the task's
  bool json = false;
};

/// retrace demo [NAME]: without a name, checks every gradient, trains four models, and compares. With one, runs that
/// experiment and prints its tables.
void run_demo(const DemoFlags& flags, Program& program);
/// The part of it that has a name.
void run_named_demo(const DemoFlags& flags, Program& program);

}  // namespace retrace
