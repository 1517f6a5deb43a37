#pragma once

#include <string>

namespace dadsim {

/// What is asked to stop (interrupted()) ends by itself soon where it looks; where it does not look within a second,
/// the process ends all the same: with `exit_code`, words on standard error, its children, and without a file that is
/// half written. To be called after catch_interrupts().
void end_when_interrupted(int exit_code);

/// `what` is called by the handlers of catch_interrupts(), too: nothing but what may be called there.
void when_interrupted(void (*what)());

/// It does end by itself now: nothing is cut short.
void ends_by_itself();

/// While it lives, `path` is removed where the process has to be ended.
class HalfWritten {
 public:
  explicit HalfWritten(const std::string& path);
  ~HalfWritten();
  HalfWritten(const HalfWritten&) = delete;
  HalfWritten& operator=(const HalfWritten&) = delete;
};

}  // namespace dadsim
