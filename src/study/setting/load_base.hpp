#pragma once

#include <string>
#include <vector>

#include "scenario/document/load.hpp"

namespace dadsim::study {

/// The scenario that a sweep or a plan starts from. It need not fit the memory of its devices itself: some of what is
/// asked may. Throws InputError.
scenario::Scenario load_base(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                             const scenario::Catalog& catalog);

}  // namespace dadsim::study
