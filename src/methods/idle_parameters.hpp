#pragma once

#include <string>
#include <vector>

#include "methods/method.hpp"
#include "spec/parameter.hpp"

namespace dadsim::methods {

/// A parameter that acts beside certain values of another one alone.
struct ActsBeside {
  spec::ParameterSpec parameter, other;
  std::vector<std::string> values = {};  ///< of the other; none: every value but its default
  bool without = false;                  ///< the other way round: it acts where the other has none of these values
};

/// Of parameters that would change nothing: each has another value than by default, and what it acts beside has none
/// with which it does. A condition on a parameter that the run does not have is passed over.
RunFaults faults_of_idle_parameters(const spec::ParameterValues& values, const std::vector<ActsBeside>& conditions);

}  // namespace dadsim::methods
