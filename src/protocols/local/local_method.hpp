#pragma once

#include <string>
#include <vector>

#include "protocols/local/outer_rule.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// A method that takes local steps in rounds: a row of choices. A run may take other ones.
///
/// EXAMPLE: src/protocols/local/local_methods.cpp.
struct LocalMethod {
  std::string name;
  /// Values that differ from the defaults of the family (LocalRounds, outer::parameters); `period` and `outer` at
  /// least.
  spec::ParameterValues defaults;
  bool averages_moments = false;  ///< it has parameters for means of Adam's moments, and needs Adam
  bool by_fragments = false;      ///< it has parameters for fragments, and no choice of encoding, receivers or end
};
EventDrivenMethod local_method(LocalMethod method);

/// Returns faults of a run's outer rule. `parameters`: those of the method; `partners`: workers have θ of their own.
RunFaults outer_faults(const spec::ParameterValues& values, const std::vector<spec::ParameterSpec>& parameters,
                       bool partners);

}  // namespace dadsim::protocols
