#include <retrace/models/checks/line_program.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace retrace {
namespace {

constexpr double seconds_to_end = 1;            // when the input of a program is closed
constexpr std::size_t longest_line = 1U << 28;  // bytes of an answer

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return text("signal ", WTERMSIG(status), " (", ::strsignal(WTERMSIG(status)), ")");
  return text("exit status ", WEXITSTATUS(status));
}

/// The ends of a new process's streams, which no other process inherits.
struct Streams {
  std::array<int, 2> input{-1, -1}, output{-1, -1};  // ours, the program's

  // A socket can be written to without a SIGPIPE if the program has ended, and without waiting if it does not read.
  bool open() {
    return ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, input.data()) == 0 &&
           ::pipe2(output.data(), O_CLOEXEC) == 0;
  }
  ~Streams() {
    for (const int stream : {input[1], output[1]})
      if (stream >= 0) ::close(stream);
  }
};

/// Starts the command in a group of processes of its own, so that all that it starts can be ended. 0 on success.
int start(const std::string& command, const Streams& streams, pid_t& process) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, streams.input[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, streams.output[1], STDOUT_FILENO);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::string shell = "sh", flag = "-c", words = command;
  std::array<char*, 4> arguments{shell.data(), flag.data(), words.data(), nullptr};
  const int error = ::posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

class LineProgram::Deadline {
 public:
  explicit Deadline(double seconds) : end_(Clock::now() + std::chrono::duration<double>(seconds)) {}
  bool is_over() const { return Clock::now() >= end_; }
  /// The time left, from 1 ms to 1 s.
  int milliseconds() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 1, 1000));
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::chrono::time_point<Clock, std::chrono::duration<double>> end_;
};

LineProgram::LineProgram(std::string command, double seconds) : command_(std::move(command)), seconds_(seconds) {
  Streams streams;
  const int error = streams.open() ? start(command_, streams, process_) : errno;
  input_ = streams.input[0];
  output_ = streams.output[0];
  if (error == 0) return;
  ::close(input_);
  ::close(output_);
  throw ProgramError(text("gradcheck: '", command_, "' cannot be started: ", std::strerror(error)));
}

LineProgram::~LineProgram() {
  ::close(input_);
  if (process_ != 0 && !ends_before(Deadline(seconds_to_end))) {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  ::close(output_);
}

bool LineProgram::ends_before(const Deadline& deadline) {
  while (::waitpid(process_, &status_, WNOHANG) == 0) {
    if (deadline.is_over()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process_ = 0;
  return true;
}

void LineProgram::refuse_ended() {
  const bool has_ended = process_ == 0 || ends_before(Deadline(seconds_to_end));
  throw ProgramError(text("gradcheck: '", command_, "' ",
                          has_ended ? text("ended with ", ending_of(status_)) : "closed its standard output",
                          " before it had answered; it must answer one line to each line until its input ends (what it "
                          "says of errors goes to standard error)"));
}

/// False if the program does not read any more.
bool LineProgram::send_some(std::string_view& rest) {
  const auto sent = ::send(input_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent >= 0) rest.remove_prefix(static_cast<std::size_t>(sent));
  return sent >= 0 || errno == EAGAIN || errno == EINTR;
}

/// False if the program does not write any more.
bool LineProgram::receive_some() {
  std::array<char, 65536> buffer;
  const auto count = ::read(output_, buffer.data(), buffer.size());
  if (count > 0) received_.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

std::string LineProgram::ask(std::string line) {
  line += '\n';
  std::string_view rest = line;
  const Deadline deadline(seconds_);
  std::size_t end = received_.find('\n');
  while (end == received_.npos) {
    if (deadline.is_over())
      throw ProgramError(text("gradcheck: '", command_, "' has not answered for ", seconds_,
                              " s and was ended; it must answer each line with one line and flush it (--timeout gives "
                              "it more time)"));
    std::array<pollfd, 2> streams{pollfd{output_, POLLIN, 0}, pollfd{rest.empty() ? -1 : input_, POLLOUT, 0}};
    if (::poll(streams.data(), streams.size(), deadline.milliseconds()) <= 0) continue;
    const std::size_t before = received_.size();
    if (streams[0].revents != 0 && !receive_some()) refuse_ended();
    if (streams[1].revents != 0 && !send_some(rest)) rest = {};  // its last words may still come
    end = received_.find('\n', before);
    if (end == received_.npos && received_.size() > longest_line)
      throw ProgramError(
          text("gradcheck: '", command_, "' has answered ", received_.size(), " bytes without the end of a line"));
  }
  std::string answer = received_.substr(0, end);
  received_.erase(0, end + 1);
  return answer;
}

}  // namespace retrace
