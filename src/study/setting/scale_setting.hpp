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

/// Properties that a run of a scale study shares with one that takes its relative steps: parameters and compressor.
spec::ParameterValues settings_of(const spec::RunSpec& run);

/// Reads the scale study that <ladder> names. Throws InputError where it cannot be read or is no scale study.
report::LadderFile read_ladder(const std::string& path);
/// The same as what is wrong with it; none: nothing.
std::optional<Fault> fault_of_ladder(const std::string& path);

/// What the time to accuracy at scale is of; nothing where the scenario neither times another network nor learns with
/// several seeds.
std::optional<report::ScaleSetting> scale_setting(const scenario::Scenario& scenario);

/// Gradient sharing, which relative steps are of.
spec::RunSpec reference_run();
/// The first run of the scenario that is of it, with nothing lost on its way.
std::optional<std::size_t> reference_run_of(const std::vector<spec::RunSpec>& runs);
/// Whether gradient sharing is to be learned beside the runs of the scenario. Where all of these are event-driven, a
/// scale study alone compares steps with it.
bool needs_reference(const scenario::Scenario& scenario);

}  // namespace dadsim::study
