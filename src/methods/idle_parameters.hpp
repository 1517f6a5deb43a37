#pragma once

#include <string>
#include <vector>

#include "methods/method.hpp"
#include "spec/parameter.hpp"

namespace dadsim::methods {

/// A parameter that has an effect only with certain values of another one.
struct ActsBeside {
  spec::ParameterSpec parameter, other;
  std::vector<std::string> values = {};  ///< values of the other parameter; none: all but its default
  bool without = false;                  ///< inverts the condition: no effect if the other has one of these values
};

/// Reports parameters without effect: each has a value other than its default, and its condition is not met. Conditions
/// on parameters that the run does not have are ignored.
RunFaults faults_of_idle_parameters(const spec::ParameterValues& values, const std::vector<ActsBeside>& conditions);

}  // namespace dadsim::methods
