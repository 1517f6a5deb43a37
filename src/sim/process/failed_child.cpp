#include "sim/process/failed_child.hpp"

#include <stdexcept>

#include "sim/process/last_words.hpp"

namespace dadsim::sim {

void throw_if_crashed(const ChildOutcome& outcome) {
  if (outcome.crashed()) throw std::runtime_error("the simulation crashed: " + outcome.description());
}

std::string failure_of(const ChildOutcome& outcome, std::string told) {
  throw_if_crashed(outcome);
  if (told.empty()) return simgrid_words(outcome.output);
  return told;
}

}  // namespace dadsim::sim
