#pragma once

#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "scenario/language/catalog.hpp"

namespace dadsim::study {

/// Returns the names that scenarios may refer to in this build (algorithms, devices, workloads), with the checks of
/// platform and data files.
scenario::Catalog make_catalog();
/// Returns the same for scenarios whose described learning is skipped (--timing-only).
scenario::Catalog make_catalog_without_learning();

/// Loads the scenario that a sweep or a plan starts from. It need not fit the memory of its devices, since its
/// variations may. Throws InputError.
scenario::Scenario load_base(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                             const scenario::Catalog& catalog);

}  // namespace dadsim::study
