#pragma once

#include <string>

namespace dadsim {

/// Ends the process if interrupted() work does not stop by itself within a second: with `exit_code`, a message on
/// standard error, its children ended, and half-written files removed. Call it after catch_interrupts().
void end_when_interrupted(int exit_code);

/// Registers `what`, which the handlers of catch_interrupts() call too: it must be async-signal-safe.
void when_interrupted(void (*what)());

/// Declares that the work is ending by itself: the process is no longer ended.
void ends_by_itself();

/// Removes `path` if the process is ended during this object's life.
class HalfWritten {
 public:
  explicit HalfWritten(const std::string& path);
  ~HalfWritten();
  HalfWritten(const HalfWritten&) = delete;
  HalfWritten& operator=(const HalfWritten&) = delete;
};

}  // namespace dadsim
