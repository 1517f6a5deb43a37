#pragma once

#include <functional>
#include <string>

#include "scenario/scenario.hpp"

namespace dadsim {

/// The resolved scenario as XML; `file` turns each path of the scenario into what is printed for it.
std::string write_scenario(const Scenario& scenario, const std::function<std::string(const std::string&)>& file);

/// Scenario::hash: of the resolved scenario with the fingerprints of the files' contents for their paths. Throws
/// InputError if a file cannot be read.
std::uint64_t hash_of(const Scenario& scenario);

}  // namespace dadsim
