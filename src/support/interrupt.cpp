#include "support/interrupt.hpp"

#include <csignal>

#include "support/last_resort.hpp"

namespace dadsim {
namespace {

std::atomic<bool> flag{false};
std::atomic<void (*)()> then{nullptr};
static_assert(std::atomic<bool>::is_always_lock_free);  // lock-free, so that signal handlers may use it

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  sigemptyset(&action.sa_mask);
  action.sa_handler = [](int) {
    flag.store(true, std::memory_order_relaxed);
    if (void (*const what)() = then.load()) what();
  };
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  struct sigaction before {};
  if (::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) ::sigaction(SIGHUP, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  ::sigaction(SIGXFSZ, &action, nullptr);
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, nullptr);
}

void when_interrupted(void (*what)()) { then.store(what); }

const std::atomic<bool>& interrupted() { return flag; }

void set_interrupted(bool value) { flag.store(value, std::memory_order_relaxed); }

}  // namespace dadsim
