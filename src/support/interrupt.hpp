#pragma once

#include <atomic>
#include <stdexcept>

namespace dadsim {

/// From now on SIGINT and SIGTERM set interrupted() instead of ending the process, so that no file is left half
/// written.
void catch_interrupts();
const std::atomic<bool>& interrupted();

/// The user asked to stop.
class Cancelled : public std::runtime_error {
 public:
  Cancelled() : std::runtime_error("cancelled") {}
};

}  // namespace dadsim
