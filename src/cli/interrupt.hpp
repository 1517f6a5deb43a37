#pragma once

#include <atomic>

namespace dadsim {

/// From now on SIGINT and SIGTERM set interrupted() instead of ending the process, so that no file is left half
/// written.
void catch_interrupts();
const std::atomic<bool>& interrupted();

}  // namespace dadsim
