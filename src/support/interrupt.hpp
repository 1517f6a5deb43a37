#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace dadsim {

/// Makes SIGINT, SIGTERM and SIGHUP (unless it was ignored before, as by nohup) set interrupted() instead of ending the
/// process, so that no file is left half written. SIGPIPE and SIGXFSZ are ignored, and writes fail instead (EPIPE,
/// EFBIG). SIGCHLD gets its default action, even if the parent ignored it: otherwise the end of a child could not be
/// observed. Call it before anything else runs.
void catch_interrupts();
const std::atomic<bool>& interrupted();
/// Interrupts like a signal, for programs that handle signals themselves; false: the interrupted work has ended.
/// May be called in a signal handler.
void set_interrupted(bool value);

/// Thrown after the user asked to stop. The message says what was kept.
class Cancelled : public std::runtime_error {
 public:
  explicit Cancelled(const std::string& kept = "nothing was written") : std::runtime_error(kept) {}
};

}  // namespace dadsim
