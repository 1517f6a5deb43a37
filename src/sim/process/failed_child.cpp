#include "sim/process/failed_child.hpp"

#include <stdexcept>

#include "sim/process/simgrid_output.hpp"

namespace dadsim::sim {

void throw_if_crashed(const ChildOutcome& outcome) {
  if (outcome.crashed()) throw std::runtime_error("the simulation crashed: " + outcome.description());
}

std::string failure_of(const ChildOutcome& outcome, std::string reported) {
  throw_if_crashed(outcome);
  if (reported.empty()) return simgrid_words(outcome.output);
  return reported;
}

}  // namespace dadsim::sim
