#include "support/last_resort.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>
#include <string_view>

namespace dadsim {
namespace {

constexpr std::int64_t kGrace = 800'000;  // microseconds until the process is ended

std::atomic<int> code_when_ended{0};
std::atomic<bool> over{false};  // true: the process must not be ended any more
std::atomic<bool> half_written{false};
std::array<char, PATH_MAX> half_written_path{};

/// Runs in a signal handler, so it may only make async-signal-safe calls.
void end(int) {
  if (over.load()) return;
  if (half_written.load()) ::unlink(half_written_path.data());
  constexpr std::string_view kWords = "dadsim: interrupted\n";
  static_cast<void>(::write(STDERR_FILENO, kWords.data(), kWords.size()) == 0);
  ::_exit(code_when_ended.load());
}

void begin_grace() {
  static std::atomic<bool> begun{false};
  if (begun.exchange(true)) return;
  const itimerval timer{{0, 0}, {0, kGrace}};
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

void end_when_interrupted(int exit_code) {
  code_when_ended.store(exit_code);
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = end;
  ::sigaction(SIGALRM, &action, nullptr);
  when_interrupted(begin_grace);
}

void ends_by_itself() { over.store(true); }

HalfWritten::HalfWritten(const std::string& path) {
  if (path.size() >= half_written_path.size()) return;
  std::memcpy(half_written_path.data(), path.c_str(), path.size() + 1);
  half_written.store(true);
}

HalfWritten::~HalfWritten() { half_written.store(false); }

}  // namespace dadsim
