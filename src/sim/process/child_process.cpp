#include "sim/process/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "sim/process/simgrid_output.hpp"
#include "support/environment_error.hpp"
#include "support/interrupt.hpp"

namespace dadsim::sim {
namespace {

constexpr std::size_t kOutputKept = 65536;  // bytes of a child's output that are kept at most
constexpr std::size_t kMostPosted = 32768;  // bytes posted above which they are sent; at most half of a pipe's capacity
constexpr std::chrono::milliseconds kLongestPosted{20};
constexpr int kFailureStatus = 70;      // EX_SOFTWARE of sysexits.h: the body threw
constexpr int kEnvironmentStatus = 71;  // EX_OSERR: the system denied a resource that every child needs
constexpr int kLookAgain = 100;  // milliseconds between checks, because a signal may wake another thread than the
                                 // waiting one

[[noreturn]] void denied(int code) {
  throw EnvironmentError(fmt::format("a process could not be started: {}", std::strerror(code)));
}

[[noreturn]] void cut_off(int code) {
  throw EnvironmentError(fmt::format("the pipe from a child process is broken: {}", std::strerror(code)));
}

/// Process of this child's own child, of which there is one at a time. It must not outlive this child.
std::atomic<pid_t> child_of_child = 0;

/// Ends the child when a resource is denied. `words` and the exit status inform the parent.
[[noreturn]] void end_for_want_of(std::string_view words) {
  if (const pid_t own = child_of_child; own > 0) {
    ::kill(own, SIGKILL);
    while (::waitpid(own, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, words.data(), words.size());
  ::_exit(kEnvironmentStatus);
}

/// Ends the process if memory is denied. Other code must not catch a bad_alloc, nor let it end the process as SimGrid's
/// actors do: denied memory must not become a result of the child.
[[noreturn]] void end_for_want_of_memory() { end_for_want_of("a child process ran out of memory\n"); }

/// Grows the heap in one step. Otherwise a thread's heap grows with each request, by a page or two per system call, and
/// a simulation needs hundreds.
void grow_heap_at_once() {
  constexpr int kRoom = 1 << 20;  // bytes by which the heap grows
  ::mallopt(M_MMAP_THRESHOLD, 2 * kRoom);
  ::mallopt(M_TRIM_THRESHOLD, 64 * kRoom);
  std::free(std::malloc(kRoom));  // NOLINT(cppcoreguidelines-no-malloc): the heap itself is meant
}

class ChildDescriptor {
 public:
  ChildDescriptor() = default;
  ChildDescriptor(const ChildDescriptor&) = delete;
  ChildDescriptor& operator=(const ChildDescriptor&) = delete;
  ~ChildDescriptor() { close(); }
  void reset(int value) {
    close();
    value_ = value;
  }
  void close() {
    if (value_ >= 0) ::close(value_);
    value_ = -1;
  }
  int get() const { return value_; }

 private:
  int value_ = -1;
};

struct ChildPipe {
  ChildDescriptor read, write;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read.reset(ends[0]);
    write.reset(ends[1]);
    return true;
  }
};

/// A child process that is ended and waited for at the latest when this object is destroyed.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) { child_of_child = pid; }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill();
    wait();
  }
  void kill() const { ::kill(pid_, SIGKILL); }
  /// Waits for the end of the child. Returns nothing if its status was taken elsewhere: the system does so while
  /// SIGCHLD is ignored.
  std::optional<int> wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
      if (errno == EINTR) continue;
      forget();
      return std::nullopt;
    }
    forget();
    return status;
  }

 private:
  void forget() {
    child_of_child = 0;
    pid_ = -1;
  }

  pid_t pid_;
};

bool write_all(int descriptor, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(descriptor, data, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

[[noreturn]] void be_child(const ChildProcess::Body& body, pid_t parent, int messages, int output, int orders) {
  // Moves descriptors to 0–4, so that all others can be closed: another thread's pipes must not stay open here.
  const int null = ::open("/dev/null", O_RDONLY);
  const int kept = ::fcntl(messages, F_DUPFD, 10);
  const int kept_output = ::fcntl(output, F_DUPFD, 10);
  const int kept_orders = ::fcntl(orders, F_DUPFD, 10);
  if (null < 0 || kept < 0 || kept_output < 0 || kept_orders < 0) ::_exit(kEnvironmentStatus);
  ::dup2(null, 0);
  ::dup2(kept_output, 1);
  ::dup2(kept_output, 2);
  ::dup2(kept, 3);
  ::dup2(kept_orders, 4);
  ::close_range(5, ~0U, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE, SIGXFSZ, SIGCHLD, SIGABRT, SIGSEGV}) {
    std::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);  // no core file, since an abort of SimGrid is a message for the user
  if (::getppid() != parent) ::_exit(kFailureStatus);
  child_of_child = 0;
  std::set_new_handler(&end_for_want_of_memory);
  grow_heap_at_once();
  int status = kFailureStatus;
  try {
    body(MessageSink(3), MessageSource(4));
    status = 0;
  } catch (const EnvironmentError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = kEnvironmentStatus;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (...) {
    std::fputs("an exception of unknown type\n", stderr);
  }
  std::fflush(stdout);
  std::fflush(stderr);
  ::_exit(status);  // skips destructors and exit handlers of the parent
}

void write_to_parent(int descriptor, std::string_view bytes) {
  if (write_all(descriptor, bytes.data(), bytes.size())) return;
  if (errno == EPIPE) ::_exit(kFailureStatus);  // the parent has ended
  end_for_want_of("a child process cannot write to its pipe\n");
}

}  // namespace

void MessageSink::add(std::string_view message) const {
  const std::uint64_t length = message.size();
  posted_.append(reinterpret_cast<const char*>(&length), sizeof length);
  posted_ += message;
}

void MessageSink::flush() const {
  write_to_parent(descriptor_, posted_);
  posted_.clear();
}

void MessageSink::send(std::string_view message) const {
  if (message.size() < kMostPosted) {
    add(message);
    return flush();
  }
  flush();  // sends what was posted; a long message then needs no copy
  const std::uint64_t length = message.size();
  write_to_parent(descriptor_, {reinterpret_cast<const char*>(&length), sizeof length});
  write_to_parent(descriptor_, message);
}

void MessageSink::post(std::string_view message) const {
  using std::chrono::steady_clock;
  if (posted_.empty()) first_posted_ = steady_clock::now();
  add(message);
  if (posted_.size() >= kMostPosted || steady_clock::now() - first_posted_ >= kLongestPosted) flush();
}

std::string ChildOutcome::description() const {
  switch (end) {
    case ChildEnd::complete:
      return {};
    case ChildEnd::exited:
      return fmt::format("ended with exit status {}", code);
    case ChildEnd::killed: {
      const char* name = ::sigdescr_np(code);
      return fmt::format("was killed by signal {} ({})", code, name == nullptr ? "unknown" : name);
    }
    case ChildEnd::timed_out:
      return fmt::format("did not end within {} seconds", code);
  }
  return {};
}

bool ChildOutcome::crashed() const {
  if (end == ChildEnd::killed && (code == SIGSEGV || code == SIGBUS)) return true;
  return says_crash(output);
}

// ---- the parent's side ----

std::string MessageSource::next() const {
  for (;;) {
    if (std::optional<std::string> message = splitter_.next()) return *std::move(message);
    const ssize_t got = ::read(descriptor_, chunk_.data(), chunk_.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) ::_exit(kFailureStatus);  // no reason is written, because the parent has ended
    if (got < 0) end_for_want_of("a child process cannot read from its pipe\n");
    splitter_.add(chunk_.data(), static_cast<std::size_t>(got));
  }
}

struct ChildProcess::State {
  using Clock = std::chrono::steady_clock;
  ChildPipe messages, output, orders;
  std::optional<Child> child;
  ChildOutcome outcome;
  MessageSplitter cutter;
  std::array<char, 65536> chunk{};  ///< a member, because zeroing it takes longer than most messages
  Clock::time_point start = Clock::now();
  bool timed_out = false;

  /// Reads available bytes, or waits for them. Returns false once both pipes have ended or the time is up.
  bool read_more(double time_limit) {
    std::array<pollfd, 2> waiting{{{messages.read.get(), POLLIN, 0}, {output.read.get(), POLLIN, 0}}};
    if (waiting[0].fd < 0 && waiting[1].fd < 0) return false;
    if (interrupted().load(std::memory_order_relaxed)) throw Cancelled();
    int patience = kLookAgain;
    if (time_limit > 0) {
      const std::chrono::duration<double> left =
          std::chrono::duration<double>(time_limit) - std::chrono::duration<double>(Clock::now() - start);
      if (left.count() <= 0) {
        timed_out = true;
        return false;
      }
      patience = static_cast<int>(std::clamp(left.count() * 1000, 1.0, double{kLookAgain}));
    }
    if (::poll(waiting.data(), waiting.size(), patience) < 0) {
      if (errno == EINTR) return true;
      cut_off(errno);
    }
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      const ssize_t got = ::read(waiting[i].fd, chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) cut_off(errno);
      if (got == 0) {
        (i == 0 ? messages : output).read.close();
      } else if (i == 0) {
        cutter.add(chunk.data(), static_cast<std::size_t>(got));
      } else {
        const std::size_t room = kOutputKept - std::min(kOutputKept, outcome.output.size());
        outcome.output.append(chunk.data(), std::min(room, static_cast<std::size_t>(got)));
      }
    }
    return true;
  }
};

ChildProcess::ChildProcess(const Body& body) : state_(std::make_unique<State>()) {
  State& state = *state_;
  if (!state.messages.open() || !state.output.open() || !state.orders.open()) denied(errno);
  std::fflush(nullptr);  // without this the child would write buffered output a second time
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) denied(errno);
  if (pid == 0) {
    be_child(body, parent, state.messages.write.get(), state.output.write.get(), state.orders.read.get());
  }
  state.child.emplace(pid);
  state.messages.write.close();
  state.output.write.close();
  state.orders.read.close();
}

ChildProcess::~ChildProcess() = default;

bool ChildProcess::send(std::string_view message) {
  // Blocks SIGPIPE, by which a child that has ended would end this process.
  sigset_t pipe_signal;
  sigset_t before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  const std::string bytes = framed(message);
  const bool sent = state_->child && write_all(state_->orders.write.get(), bytes.data(), bytes.size());
  const int fault = state_->child && !sent ? errno : 0;
  if (fault == EPIPE && sigismember(&before, SIGPIPE) == 0) {
    const timespec none{};
    ::sigtimedwait(&pipe_signal, nullptr, &none);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (fault != 0 && fault != EPIPE)
    cut_off(fault);  // an incomplete message would leave the child waiting for the
                     // remaining bytes
  return sent;
}

std::optional<std::string> ChildProcess::next(double time_limit) {
  if (!state_->child) return std::nullopt;
  for (;;) {
    if (std::optional<std::string> message = state_->cutter.next()) return message;
    if (!state_->read_more(time_limit)) return std::nullopt;
  }
}

ChildOutcome ChildProcess::end() {
  State& state = *state_;
  if (!state.child) return state.outcome;
  state.orders.write.close();
  if (state.timed_out) state.child->kill();
  while (!state.timed_out && state.read_more(0)) {
  }
  const std::optional<int> status = state.child->wait();
  state.child.reset();
  ChildOutcome& outcome = state.outcome;
  if (state.timed_out) {
    outcome.end = ChildOutcome::ChildEnd::timed_out;
  } else if (!status) {
    throw EnvironmentError("the exit status of a child process is unknown, since SIGCHLD is ignored");
  } else if (*status != 0 && says_out_of_memory(outcome.output)) {
    throw EnvironmentError("a child process ran out of memory");
  } else if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL) {
    throw EnvironmentError("a child process was killed by signal 9 (Killed), probably for lack of memory");
  } else if (WIFSIGNALED(*status)) {
    outcome.end = ChildOutcome::ChildEnd::killed;
    outcome.code = WTERMSIG(*status);
  } else if (WEXITSTATUS(*status) == kEnvironmentStatus) {
    throw EnvironmentError(outcome.output.empty() ? "a child process could not start: too few file descriptors"
                                                  : outcome.output.substr(0, outcome.output.find('\n')));
  } else if (WEXITSTATUS(*status) != 0) {
    outcome.end = ChildOutcome::ChildEnd::exited;
    outcome.code = WEXITSTATUS(*status);
  } else {
    outcome.end = ChildOutcome::ChildEnd::complete;
  }
  return outcome;
}

ChildOutcome run_in_child(const std::function<void(const MessageSink&)>& body,
                          const std::function<void(std::string_view)>& on_message, double time_limit) {
  ChildProcess child([&body](const MessageSink& sink, const MessageSource&) { body(sink); });
  while (const std::optional<std::string> message = child.next(time_limit)) on_message(*message);
  ChildOutcome outcome = child.end();
  if (outcome.end == ChildOutcome::ChildEnd::timed_out) outcome.code = static_cast<int>(time_limit);
  return outcome;
}

}  // namespace dadsim::sim
