#pragma once

#include <string>

namespace dadsim {

/// If work does not stop within 0.8 seconds after an interruption (interrupted()), ends the process with `exit_code`:
/// removes the file of a HalfWritten object, and prints a message on standard error. Children end with the process.
/// Must be called after catch_interrupts().
void end_when_interrupted(int exit_code);

/// Registers a function that the handlers of catch_interrupts() also call. It must be async-signal-safe.
void when_interrupted(void (*what)());

/// Disables end_when_interrupted(), because the work is ending by itself.
void ends_by_itself();

/// Makes end_when_interrupted() remove `path` if it ends the process during this object's life. At most one object may
/// exist at a time.
class HalfWritten {
 public:
  explicit HalfWritten(const std::string& path);
  ~HalfWritten();
  HalfWritten(const HalfWritten&) = delete;
  HalfWritten& operator=(const HalfWritten&) = delete;
};

}  // namespace dadsim
