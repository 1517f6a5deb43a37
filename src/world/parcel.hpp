#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "world/history.hpp"
#include "world/world.hpp"

namespace dadsim::world {

/// Topic of messages; coroutines of a node receive by channel. A string literal.
using Channel = std::string_view;

/// A message between participants: values by name, and the bytes that they take on the wire.
struct Parcel {
  std::vector<Value> values = {};
  double bytes = 0;
  std::int64_t number = 0;  ///< number whose meaning the protocol defines: a round, a version

  // Set by the EventLoop.
  Node from = -1, to = -1;
  bool lost = false;                   ///< true: the message was lost, and is returned to its sender as a notice
  bool gone = false;                   ///< true: notice that the watched node `from` went down
  bool back = false;                   ///< true: notice that the watched node `from` is up again
  double sent_at = 0, arrived_at = 0;  ///< dates of sending and of arrival, seconds

  double work = 0;  ///< seconds of computing in the contents, to count waste
};

}  // namespace dadsim::world
