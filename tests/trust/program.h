// Random programs: a few ops on a few tensors, run on a tape and by the naive interpreter.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <retrace/core/tape/tape.h>
#include <retrace/tests/trust/program_ops.h>

namespace retrace {

/// A program: nodes are leaves and results of calls, in the order in which they are made.
struct Program {
  struct Node {
    naive::Array value;  // by the naive interpreter
    bool wants = false;  // a gradient
    bool is_leaf = false;
    bool is_part = false;  // one of several results of a call
    bool held = false;     // by the user until after the backward; the others are let go after their last use
  };
  enum class Mode { recorded, without_tape, detached, after_a_nested_tape };
  struct Call {
    const ProgramOp* op;
    std::vector<std::size_t> in;
    Numbers numbers;
    Mode mode = Mode::recorded;
    std::size_t first = 0;  // of the nodes that it makes
    std::size_t count = 0;
  };

  Dtype dtype = f64;
  int threads = 1;
  TapeOptions options = {};
  int runs = 1;  // whose gradients add up
  std::vector<Node> nodes;
  std::vector<Call> calls;
  std::vector<std::size_t> outputs;  // that the backward begins with; none: the program has nothing to differentiate
};

/// The program that these choices make. It stays where its functions are smooth and its numbers moderate.
Program make_program(std::string_view bytes);
/// The program, a line each call.
std::string in_words(const Program& program);
/// Where values or gradients on the tape differ from the naive ones beyond rounding; empty if they agree.
std::string difference(const Program& program);
/// Fewer or smaller bytes of which `fails` still holds.
std::string shrunk(std::string bytes, const std::function<bool(std::string_view)>& fails);

}  // namespace retrace
