#pragma once

#include <atomic>
#include <stdexcept>
#include <string>

namespace dadsim {

/// Makes SIGINT, SIGTERM and SIGHUP set interrupted() instead of ending the process, so that no file is left half
/// written. (SIGHUP stays ignored if it was, as by nohup.) SIGPIPE and SIGXFSZ are ignored, so that writes fail instead
/// (EPIPE, EFBIG). SIGCHLD gets its default action, even if the parent ignored it, because otherwise the end of a child
/// could not be observed. Must be called before anything else runs.
void catch_interrupts();
const std::atomic<bool>& interrupted();
/// Sets interrupted() like a signal, for programs that handle signals themselves; false: the interrupted work has
/// ended. May be called in a signal handler.
void set_interrupted(bool value);

/// Thrown after the user asked to stop. The message states which results were kept.
class Cancelled : public std::runtime_error {
 public:
  explicit Cancelled(const std::string& kept = "nothing was written") : std::runtime_error(kept) {}
};

}  // namespace dadsim
