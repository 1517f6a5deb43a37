#pragma once

#include <string>
#include <vector>

#include "scenario/catalog.hpp"
#include "scenario/scenario.hpp"

namespace dadsim {

/// Reads, validates and completes a scenario. `overrides` are "path=value" of --set, applied in order before anything
/// is checked. Throws InputError with everything that is wrong.
Scenario load_scenario(const std::string& path, const std::vector<std::string>& overrides, const Catalog& catalog);

/// Reads a platform file: one that starts with <cluster-platform> is read and checked; one of SimGrid, which starts
/// with <platform>, is only recognised: what it holds is for Catalog::check_platform to say. Throws InputError with
/// everything that is wrong.
PlatformSpec load_platform_file(const std::string& path, const Catalog& catalog);

/// The resolved scenario as XML, every default filled in and every path absolute: loading it gives an equal scenario.
std::string print_scenario(const Scenario& scenario);

}  // namespace dadsim
