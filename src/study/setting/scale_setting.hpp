#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "report/run/result.hpp"
#include "report/scale_study/ladder_file.hpp"
#include "scenario/scenario.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Returns the properties that must be equal in a run of a scale study and a run that uses its relative steps:
/// parameters and compressor.
spec::ParameterValues settings_of(const spec::RunSpec& run);

/// Reads the scale study of <ladder>. Throws InputError if the file cannot be read or is no scale study.
report::LadderFile read_ladder(const std::string& path);
/// Returns the fault of a file that <ladder> names; none if read_ladder() can read it.
std::optional<Fault> fault_of_ladder(const std::string& path);

/// Returns the setting of the time to accuracy at scale; none if the scenario neither times another network nor has
/// several seeds or several targets.
std::optional<report::ScaleSetting> scale_setting(const scenario::Scenario& scenario);

/// Returns gradient sharing, the reference of relative steps.
spec::RunSpec reference_run();
/// Returns the index of the first run that is gradient sharing without compression; none if there is no such run.
std::optional<std::size_t> reference_run_of(const std::vector<spec::RunSpec>& runs);
/// Returns whether gradient sharing must be learned in addition to the scenario's runs. If all of these are
/// event-driven, no other run is learned: only a scale study compares steps with gradient sharing.
bool needs_reference(const scenario::Scenario& scenario);

}  // namespace dadsim::study
