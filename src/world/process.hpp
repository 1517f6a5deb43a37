#pragma once

#include <functional>
#include <string>

#include "world/event_loop.hpp"

namespace dadsim::world {

/// A coroutine and its present wait.
struct EventLoop::Process {
  Node node = -1;
  std::string role;
  std::function<Task<>()> begin;
  Task<> task;
  bool ended = false;

  enum class Waiting : std::uint8_t { nothing, computing, sleeping, receiving };
  Waiting waiting = Waiting::nothing;
  std::coroutine_handle<> handle;  ///< awaiting coroutine, which may be deep in the task
  double since = 0;
  Activity timer = 0;                  ///< sleeping; receiving with an end
  ReceiveAwaiter* receiver = nullptr;  ///< receiving
  Computation* computation = nullptr;  ///< computing
};

}  // namespace dadsim::world
