#include "sim/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>

namespace dadsim::sim {
namespace {

constexpr std::size_t kOutputKept = 65536;  // bytes
constexpr std::size_t kMostPosted = 32768;  // bytes: no more than half of what a pipe holds
constexpr std::chrono::milliseconds kLongestPosted{20};
constexpr int kFailureStatus = 70;  // EX_SOFTWARE of sysexits.h: the body threw

class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(); }
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

struct Pipe {
  Descriptor read, write;
  bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read.reset(ends[0]);
    write.reset(ends[1]);
    return true;
  }
};

/// A child that is ended and waited for at the latest when this object goes.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill();
    wait();
  }
  void kill() const { ::kill(pid_, SIGKILL); }
  int wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0) {
      if (errno != EINTR) {  // somebody else (SIGCHLD ignored) has taken the status
        status = kFailureStatus << 8;
        break;
      }
    }
    pid_ = -1;
    return status;
  }

 private:
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

/// Cuts the stream of bytes back into messages (8 bytes of length, then the message).
class MessageReader {
 public:
  void add(const char* data, std::size_t size, const std::function<void(std::string_view)>& on_message) {
    buffer_.append(data, size);
    std::size_t start = 0;
    for (;;) {
      std::uint64_t length = 0;
      if (buffer_.size() - start < sizeof length) break;
      std::memcpy(&length, buffer_.data() + start, sizeof length);
      if (buffer_.size() - start - sizeof length < length) break;
      on_message(std::string_view(buffer_).substr(start + sizeof length, length));
      start += sizeof length + length;
    }
    buffer_.erase(0, start);
  }

 private:
  std::string buffer_;
};

[[noreturn]] void be_child(const std::function<void(const MessageSink&)>& body, pid_t parent, int messages,
                           int output) {
  // The order of descriptors 0–3 is fixed so that everything above them can be closed: another thread's pipes must not
  // be held open here.
  const int null = ::open("/dev/null", O_RDONLY);
  const int kept = ::fcntl(messages, F_DUPFD, 10);
  const int kept_output = ::fcntl(output, F_DUPFD, 10);
  if (null < 0 || kept < 0 || kept_output < 0) ::_exit(kFailureStatus);
  ::dup2(null, 0);
  ::dup2(kept_output, 1);
  ::dup2(kept_output, 2);
  ::dup2(kept, 3);
  ::close_range(4, ~0U, 0);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE, SIGCHLD, SIGABRT, SIGSEGV}) {
    std::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);  // an abort of SimGrid's is a message for the user, not worth a core file
  if (::getppid() != parent) ::_exit(kFailureStatus);
  int status = kFailureStatus;
  try {
    body(MessageSink(3));
    status = 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  } catch (...) {
    std::fputs("an exception of unknown type\n", stderr);
  }
  std::fflush(stdout);
  std::fflush(stderr);
  ::_exit(status);  // neither destructors nor handlers of the parent's
}

}  // namespace

void MessageSink::add(std::string_view message) const {
  const std::uint64_t length = message.size();
  posted_.append(reinterpret_cast<const char*>(&length), sizeof length);
  posted_ += message;
}

void MessageSink::flush() const {
  if (!write_all(descriptor_, posted_.data(), posted_.size())) ::_exit(kFailureStatus);
  posted_.clear();
}

void MessageSink::send(std::string_view message) const {
  add(message);
  flush();
}

void MessageSink::post(std::string_view message) const {
  using std::chrono::steady_clock;
  if (posted_.empty()) first_posted_ = steady_clock::now();
  add(message);
  if (posted_.size() >= kMostPosted || steady_clock::now() - first_posted_ >= kLongestPosted) flush();
}

std::string ChildOutcome::description() const {
  switch (end) {
    case End::complete:
      return {};
    case End::exited:
      return fmt::format("ended with exit status {}", code);
    case End::killed: {
      const char* name = ::sigdescr_np(code);
      return fmt::format("was killed by signal {} ({})", code, name == nullptr ? "unknown" : name);
    }
    case End::timed_out:
      return fmt::format("did not end within {} seconds", code);
    case End::not_started:
      return fmt::format("could not be started: {}", std::strerror(code));
  }
  return {};
}

ChildOutcome run_in_child(const std::function<void(const MessageSink&)>& body,
                          const std::function<void(std::string_view)>& on_message, double time_limit) {
  using Clock = std::chrono::steady_clock;
  ChildOutcome outcome;
  Pipe messages;
  Pipe output;
  if (!messages.open() || !output.open()) {
    outcome.code = errno;
    return outcome;
  }
  std::fflush(nullptr);  // or the child would write what is buffered a second time
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) {
    outcome.code = errno;
    return outcome;
  }
  if (pid == 0) be_child(body, parent, messages.write.get(), output.write.get());
  Child child(pid);
  messages.write.close();
  output.write.close();

  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit));
  MessageReader reader;
  std::array<char, 65536> chunk{};
  bool timed_out = false;
  std::array<pollfd, 2> waiting{{{messages.read.get(), POLLIN, 0}, {output.read.get(), POLLIN, 0}}};
  while (waiting[0].fd >= 0 || waiting[1].fd >= 0) {
    int patience = -1;  // milliseconds
    if (time_limit > 0) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0) {
        timed_out = true;
        break;
      }
      patience = static_cast<int>(std::min<std::int64_t>(left, 1000));
    }
    if (::poll(waiting.data(), waiting.size(), patience) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].fd < 0 || waiting[i].revents == 0) continue;
      const ssize_t got = ::read(waiting[i].fd, chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        waiting[i].fd = -1;
      } else if (i == 0) {
        reader.add(chunk.data(), static_cast<std::size_t>(got), on_message);
      } else {
        const std::size_t room = kOutputKept - std::min(kOutputKept, outcome.output.size());
        outcome.output.append(chunk.data(), std::min(room, static_cast<std::size_t>(got)));
      }
    }
  }
  if (timed_out) child.kill();
  const int status = child.wait();
  if (timed_out) {
    outcome.end = ChildOutcome::End::timed_out;
    outcome.code = static_cast<int>(time_limit);
  } else if (WIFSIGNALED(status)) {
    outcome.end = ChildOutcome::End::killed;
    outcome.code = WTERMSIG(status);
  } else if (WEXITSTATUS(status) != 0) {
    outcome.end = ChildOutcome::End::exited;
    outcome.code = WEXITSTATUS(status);
  } else {
    outcome.end = ChildOutcome::End::complete;
  }
  return outcome;
}

}  // namespace dadsim::sim
