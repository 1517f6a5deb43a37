#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "step/step.hpp"

namespace dadsim::step {

/// A step as its nodes carry it out, message by message: for tools that take such a thing. Nodes are numbered as in a
/// schedule: workers, then the aggregator if it takes part.
struct StepOperations {
  /// What operations are for; the same for all nodes.
  struct Task {
    std::string name;                                  ///< "fc1 weight gradient", "all-reduce fc1 (ring)"
    bool collective = false;                           ///< else a computation
    CollectiveKind kind = CollectiveKind::all_reduce;  ///< of a collective
    /// Of a collective that is no star: the nodes of each of its groups, all of which carry it out at once.
    std::vector<std::vector<std::int32_t>> groups = {};
  };
  enum class Kind : std::uint8_t {
    compute,  ///< on the compute stream of the node
    send,
    receive,
    meet,  ///< nothing but that all before it are through
  };
  /// One operation of a node. It begins when all of `after` are through; a receive may be posted at once.
  struct Operation {
    Kind kind = Kind::compute;
    std::int32_t task = -1;           ///< of a meeting for a wait or a round: of its collective
    double seconds = 0;               ///< of a computation
    double bytes = 0;                 ///< of a message
    std::int32_t peer = -1;           ///< node; of a message
    std::int32_t tag = -1;            ///< of a message: no two of a pair have the same in one direction
    std::vector<std::int32_t> after;  ///< operations of this node, all before this one
    bool operator==(const Operation&) const = default;
  };
  /// A node's part in a collective.
  struct Part {
    std::int32_t task = -1;
    double bytes = 0;                  ///< that the node hands over; 0 where it only receives
    std::int32_t first = 0, last = 0;  ///< its operations: from `first` to the last of all, which all others precede
    std::vector<std::int32_t> after;   ///< when it is issued: operations before `first`
  };
  struct Node {
    std::string host;
    std::vector<Operation> operations;
    std::vector<Part> parts;  ///< in the order in which they are issued
  };
  std::vector<Task> tasks;
  std::vector<Node> nodes;
  std::size_t workers = 0;
};

}  // namespace dadsim::step
