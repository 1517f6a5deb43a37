#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace dadsim {

/// From now on SIGINT and SIGTERM set interrupted() instead of ending the process, so that no file is left half
/// written.
void catch_interrupts();
const std::atomic<bool>& interrupted();

/// The user asked to stop. The message says what was kept.
class Cancelled : public std::runtime_error {
 public:
  explicit Cancelled(const std::string& kept = "nothing was written") : std::runtime_error(kept) {}
};

}  // namespace dadsim
