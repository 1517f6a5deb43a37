#pragma once

#include <optional>
#include <string>

#include "report/scale_study/ladder_file.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// What a run of a scale study has to have in common with one that takes its relative steps: parameters and compressor.
spec::ParameterValues settings_of(const spec::RunSpec& run);

/// What <ladder> names. Throws InputError where it cannot be read or is no scale study.
report::LadderFile read_ladder(const std::string& path);
/// The same as what is wrong with it; none: nothing.
std::optional<Fault> fault_of_ladder(const std::string& path);

}  // namespace dadsim::study
