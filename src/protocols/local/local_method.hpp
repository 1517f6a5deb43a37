#pragma once

#include <string>
#include <vector>

#include "protocols/local/outer_rule.hpp"
#include "protocols/protocol.hpp"

namespace dadsim::protocols {

/// A method that takes local steps in rounds: a row of choices, each of which a run may replace.
///
/// EXAMPLE: src/protocols/local/local_methods.cpp.
struct LocalMethod {
  std::string name;
  /// Values that differ from the family's defaults (LocalRounds, outer::parameters): at least `period` and `outer`.
  spec::ParameterValues defaults;
  bool averages_moments = false;  ///< has parameters for means of Adam's moments, and requires Adam
  bool by_fragments = false;      ///< has parameters for fragments, but no choice of encoding, receivers or end of
                                  ///< rounds
};
EventDrivenMethod local_method(LocalMethod method);

/// Returns faults of a run's outer rule. `parameters`: those of the method; `partners`: workers have θ of their own.
RunFaults outer_faults(const spec::ParameterValues& values, const std::vector<spec::ParameterSpec>& parameters,
                       bool partners);

}  // namespace dadsim::protocols
