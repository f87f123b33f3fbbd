// The commands of the program, as functions of their flags.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <retrace/models/checks/checks.h>
#include <retrace/models/reports/comparison/ablation.h>
#include <retrace/models/reports/evaluation/by_length.h>
#include <retrace/models/reports/evaluation/evaluation_report.h>
#include <retrace/models/reports/tuning/tuning.h>
#include <retrace/models/training/text/generate.h>
#include <retrace/nn/module/module.h>

namespace retrace {

struct Program {
  std::ostream& results;   // text and JSON, whose control codes are escaped on their way (printable_stream.h)
  std::ostream& data;      // the same stream as it is, for files that are passed on, and for colours
  std::ostream& messages;  // what is not a result, escaped, too
  std::ostream& progress;  // the same stream as it is, for a line that is written again and again
  bool terminal = false;
  std::istream* keyboard = nullptr;  // of a reader who sees the results on a terminal
  Communicator* ranks = nullptr;     // that run the same command; null: this process alone
  int status = 0;                    // the exit status of the program
};

/// Flags of which every command has some.
struct CommonFlags {
  std::optional<int> threads = {};  // if not given, every core
  std::string out = {};             // a folder for files; empty: none are written
  bool force = false;               // replaces earlier results in that folder
  bool resume = false;              // goes on with what is in that folder
  bool json = false;                // prints the result as JSON
  bool quiet = false;               // shows no progress
};

struct TrainFlags : CommonFlags {
  RunOptions run{.task = "", .model = {.name = "lstm"}};
  bool find_learning_rate = false;  // instead of training
  std::string timeline = {};        // a file for the first steps as trace events; empty: none
};

/// retrace train TASK: trains a model and tests it, or finds a learning rate for it.
void run_train(const TrainFlags& flags, Program& program);

struct EvalFlags : CommonFlags {
  std::string path;  // of a run's folder, weights or checkpoint
  ReportOptions options;
  TaskOptions sizes = {};                    // of the task, instead of those in training
  std::string input = {};                    // a file of the user's data to test on, instead of the held-out samples
  std::string separator = {};                // of its columns, if it is not the training's
  std::optional<LengthRange> lengths = {};   // instead of the report, the accuracy at these
  std::optional<double> learning_rate = {};  // of ReportOptions::keep_learning
};

/// retrace eval CKPT: reports what a trained model can do, and how.
void run_eval(const EvalFlags& flags, Program& program);

struct PredictFlags : CommonFlags {
  std::string path;            // as in EvalFlags
  std::string input;           // the file of the samples
  std::string separator = {};  // of its columns, if it is not the training's
  bool probabilities = false;  // of every class
};

/// retrace predict RUN: answers the samples of a file with a trained model.
void run_predict(const PredictFlags& flags, Program& program);

struct ExportFlags : CommonFlags {
  std::string path;                       // as in EvalFlags
  std::string onnx;                       // the file to write
  bool f64 = false;                       // weights and arithmetic in double precision
  std::optional<std::int64_t> rows = {};  // of the longest sequence; if not given, the task's
};

/// retrace export RUN --onnx FILE: writes a trained model in the format of ONNX.
void run_export(const ExportFlags& flags, Program& program);

struct GenerateFlags : CommonFlags {
  std::string folder;
  GenerateOptions options;
};

/// retrace generate DIR: writes text with the model of a run's folder.
void run_generate(const GenerateFlags& flags, Program& program);

struct CompareFlags : CommonFlags {
  CompareOptions compare{.run = {.task = "", .model = {.name = "lstm"}}, .models = {}, .learning_rates = {}};
  std::string match = "none";
};

/// retrace compare TASK: trains several models with several seeds and compares them.
void run_compare(const CompareFlags& flags, Program& program);

struct AblateFlags : CommonFlags {
  AblateOptions ablate{.run = {.task = "", .model = {.name = "rmc"}}};
};

/// retrace ablate TASK: trains a model with each part of its memory left out or resized, one at a time.
void run_ablate(const AblateFlags& flags, Program& program);

struct TuneFlags : CommonFlags {
  TuneOptions tune{.run = {.task = "", .model = {.name = "lstm"}}};
};

/// retrace tune TASK: searches for the settings by which a model learns a task.
void run_tune(const TuneFlags& flags, Program& program);

/// A function as text and its inputs (models/study/expression).
struct ExpressionFlags {
  std::string text = {};                 // empty: none is given
  std::vector<std::string> inputs = {};  // NAME=VALUE
  std::uint64_t seed = 0;                // of random inputs
};
/// The inputs of an expression, in the order in which they were given. Throws ExpressionError, FileError.
std::vector<NamedTensor> inputs_of(const ExpressionFlags& flags, Dtype dtype);

struct GradcheckFlags : CommonFlags {
  std::vector<std::string> names;   // empty: all
  bool list = false;                // prints the names instead
  bool bugs = false;                // replays the collection of bugs instead
  ExpressionFlags expression = {};  // its inputs and seed are also those of the command
  std::string command = {};         // of a program that answers by models/checks/foreign_program.h
  double timeout = 10;              // seconds that it has for an answer
  std::vector<double> kinks;        // of the expression or the program: see GradcheckOptions
  std::int64_t order = 1;           // likewise
};

/// retrace gradcheck [NAME...]: checks gradients.
void run_gradcheck(const GradcheckFlags& flags, Program& program);
/// retrace gradcheck --bugs: replays public gradient bugs, and says which checks find them.
void run_bugs(const CommonFlags& flags, Program& program);
/// Prints one table row per check, then the failures. Returns whether all passed.
bool print_checks(std::ostream& out, const std::vector<CheckRow>& rows, const char* heading = "op or module");

struct SelfcheckFlags : CommonFlags {
  std::vector<std::string> parts;  // empty: all
};

/// retrace selfcheck [PART...]: redoes on this machine what can be checked on it, within a minute.
void run_selfcheck(const SelfcheckFlags& flags, Program& program);

struct InfoFlags : CommonFlags {
  RunOptions run{.task = "pair-matching", .model = {}};
};

/// retrace info MODEL: prints its parameters and the operations of a step.
void run_info(const InfoFlags& flags, Program& program);

struct ShowFlags : CommonFlags {
  std::string task;
  TaskOptions options;
  std::uint64_t seed = 0;
  std::int64_t count = 3;
};

/// retrace show TASK: prints samples of a task as people read them, and what its results are compared with.
void run_show(const ShowFlags& flags, Program& program);

struct DemoFlags : CommonFlags {
  std::string name;                        // empty: the demo of gradients and training; "all": every named demo
  std::optional<std::int64_t> steps = {};  // of each training; if not given, the task's
};

/// retrace demo [NAME]: without a name, checks every gradient, trains two models on two tasks, and compares them. With
/// one, runs that experiment and prints its tables.
void run_demo(const DemoFlags& flags, Program& program);
/// The demos that have a name.
void run_named_demo(const DemoFlags& flags, Program& program);

}  // namespace retrace
