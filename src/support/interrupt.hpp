#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace dadsim {

/// From now on SIGINT, SIGTERM and SIGHUP (unless it was ignored before, as nohup does) set interrupted() instead of
/// ending the process, so that no file is left half written; SIGPIPE and SIGXFSZ do nothing, and what is written fails
/// instead (EPIPE, EFBIG). SIGCHLD is as at the start of the system, also where the parent ignored it: else nobody
/// would learn how a child ended. May be called before anything else runs.
void catch_interrupts();
const std::atomic<bool>& interrupted();
/// As a signal would, for programs whose signals are not ours to catch; false: what was asked to stop has stopped. May
/// be called in a signal handler.
void set_interrupted(bool value);

/// The user asked to stop. The message says what was kept.
class Cancelled : public std::runtime_error {
 public:
  explicit Cancelled(const std::string& kept = "nothing was written") : std::runtime_error(kept) {}
};

}  // namespace dadsim
