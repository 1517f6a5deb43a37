#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "world/history.hpp"
#include "world/world.hpp"

namespace dadsim::world {

/// Topic of a message, by which a node's coroutines receive it. A string literal.
using Channel = std::string_view;

/// A message between participants: values by name, and the bytes that they take on the wire.
struct Parcel {
  std::vector<Value> values = {};
  double bytes = 0;
  std::int64_t number = 0;  ///< number with a meaning of the protocol: a round, a version

  // Filled in by the EventLoop.
  Node from = -1, to = -1;
  bool lost = false;                   ///< the message was lost; its sender gets it as a notice
  bool gone = false;                   ///< notice without message: the watched node `from` went down
  bool back = false;                   ///< notice without message: the watched node `from` is up again
  double sent_at = 0, arrived_at = 0;  ///< seconds

  double work = 0;  ///< seconds of computing in the contents, to count waste
};

}  // namespace dadsim::world
