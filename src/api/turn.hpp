#pragma once

#include "api/dadsim.hpp"

namespace dadsim::api {

/// The turn of a call: there is one at a time in a process, since who is told of progress and what is asked to stop
/// there is one of. Waits for those of other threads. Throws Stopped where this call is stopped before its turn comes,
/// and SystemError in a process that was forked beside a call: what that one held, nobody gives back.
class Turn {
 public:
  Turn();
  ~Turn();
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
};

}  // namespace dadsim::api
