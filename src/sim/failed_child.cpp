#include "sim/failed_child.hpp"

#include <stdexcept>

#include "sim/platform/engine.hpp"

namespace dadsim::sim {

std::string failure_of(const ChildOutcome& outcome, std::string told) {
  if (outcome.crashed()) throw std::runtime_error("the simulation crashed: " + outcome.description());
  return told.empty() ? simgrid_words(outcome.output) : told;
}

}  // namespace dadsim::sim
