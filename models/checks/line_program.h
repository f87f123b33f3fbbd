// A program that answers lines: one on its standard input, one on its standard output.
#pragma once

#include <string>
#include <string_view>

#include <sys/types.h>

#include <retrace/core/base/error.h>

namespace retrace {

/// A program that this one has started did not do what it should.
class ProgramError : public Error {
  using Error::Error;
};

/// Runs a command in /bin/sh until it is destroyed. What the command writes to standard error goes to ours.
class LineProgram {
 public:
  /// Waits up to `seconds` for each answer. Throws ProgramError if the command cannot be started.
  LineProgram(std::string command, double seconds);
  /// Closes the program's input, and ends it and its children if it does not end by itself in a second.
  ~LineProgram();
  LineProgram(const LineProgram&) = delete;
  LineProgram& operator=(const LineProgram&) = delete;

  const std::string& command() const { return command_; }
  /// Sends a line without its end and returns the next line that the program writes, likewise. Throws ProgramError if
  /// the program ends before it has answered, or is too slow.
  std::string ask(std::string line);

 private:
  class Deadline;
  bool send_some(std::string_view& rest);
  bool receive_some();
  bool ends_before(const Deadline& deadline);
  [[noreturn]] void refuse_ended();

  std::string command_;
  double seconds_;
  pid_t process_ = 0;  // 0 when it has ended
  int status_ = 0;     // then, as waitpid() gives it
  int input_ = -1;     // of the program
  int output_ = -1;
  std::string received_ = {};  // beyond the last answer
};

}  // namespace retrace
