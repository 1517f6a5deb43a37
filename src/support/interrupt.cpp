#include "support/interrupt.hpp"

#include <csignal>

namespace dadsim {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // a signal handler may touch it

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { flag.store(true, std::memory_order_relaxed); };
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

const std::atomic<bool>& interrupted() { return flag; }

}  // namespace dadsim
