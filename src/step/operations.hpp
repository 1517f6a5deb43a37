// Serialisation of a step's operations, sent by the simulating process.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "step/step.hpp"
#include "step/trajectory_bytes.hpp"
#include "support/wire.hpp"

namespace dadsim::step {

/// A step as operations of its nodes, message by message, for export to other tools. Nodes are numbered as in a
/// schedule: workers, then the aggregator if it is used.
struct StepOperations {
  /// Task to which operations of all nodes belong.
  struct Task {
    std::string name;                                  ///< "fc1 weight gradient", "all-reduce fc1 (ring)"
    bool collective = false;                           ///< true: a collective; false: a computation
    CollectiveKind kind = CollectiveKind::all_reduce;  ///< kind of a collective
    /// Groups of nodes that carry out the collective simultaneously; empty for gathers and broadcasts with the
    /// aggregator.
    std::vector<std::vector<std::int32_t>> groups = {};
  };
  enum class Kind : std::uint8_t {
    compute,  ///< on the compute stream of the node
    send,
    receive,
    meet,  ///< no work: ends when all operations in `after` have ended
  };
  /// One operation of a node. It begins when all operations in `after` have ended; a receive may be posted at once.
  struct Operation {
    Kind kind = Kind::compute;
    std::int32_t task = -1;           ///< index of the task; of a `meet`: the collective that is waited for
    double seconds = 0;               ///< seconds of a computation
    double bytes = 0;                 ///< bytes of a message
    std::int32_t peer = -1;           ///< other node of a message
    std::int32_t tag = -1;            ///< tag of a message: unique for a pair in one direction
    std::vector<std::int32_t> after;  ///< indices of earlier operations of this node
    bool operator==(const Operation&) const = default;
  };
  /// A node's part in a collective.
  struct Part {
    std::int32_t task = -1;
    double bytes = 0;                  ///< bytes that the node sends; 0 if it only receives
    std::int32_t first = 0, last = 0;  ///< the part's operations; all others precede the last
    std::vector<std::int32_t> after;   ///< operations before `first` after which the collective is issued
  };
  struct Node {
    std::string host;
    std::vector<Operation> operations;
    std::vector<Part> parts;  ///< sorted by issue
  };
  std::vector<Task> tasks;
  std::vector<Node> nodes;
  std::size_t workers = 0;
};

constexpr StepOperations::Kind last_of(StepOperations::Kind /*type*/) { return StepOperations::Kind::meet; }

void fields(auto& bytes, of<StepOperations::Task> auto& task) {
  bytes(task.name, task.collective, task.kind, task.groups);
}
void fields(auto& bytes, of<StepOperations::Operation> auto& one) {
  bytes(one.kind, one.task, one.seconds, one.bytes, one.peer, one.tag, one.after);
}
void fields(auto& bytes, of<StepOperations::Part> auto& part) {
  bytes(part.task, part.bytes, part.first, part.last, part.after);
}
void fields(auto& bytes, of<StepOperations::Node> auto& node) { bytes(node.host, node.operations, node.parts); }
void fields(auto& bytes, of<StepOperations> auto& operations) {
  bytes(operations.workers, operations.tasks, operations.nodes);
}

}  // namespace dadsim::step
