#include "step/step.hpp"

namespace dadsim::step {

bool CollectiveOp::operator==(const CollectiveOp& other) const {
  return kind == other.kind && payload == other.payload && same_graph(neighbours, other.neighbours);
}

}  // namespace dadsim::step
