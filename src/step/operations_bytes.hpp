#pragma once

#include "step/operations.hpp"
#include "step/trajectory_bytes.hpp"
#include "support/wire.hpp"

// Serialisation of a step's operations, sent by the simulating process.

namespace dadsim::step {

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
