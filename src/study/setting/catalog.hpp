#pragma once

#include <string>
#include <vector>

#include "scenario/document/load.hpp"
#include "scenario/language/catalog.hpp"

namespace dadsim::study {

/// What scenarios may refer to in this build: algorithms, devices, workloads, and the checks of platform and data
/// files.
scenario::Catalog make_catalog();
/// The same for scenarios of which nothing will be learned, although they say what (--timing-only).
scenario::Catalog make_catalog_without_learning();

/// The scenario that a sweep or a plan starts from. It need not fit the memory of its devices itself: some of what is
/// asked may. Throws InputError.
scenario::Scenario load_base(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                             const scenario::Catalog& catalog);

}  // namespace dadsim::study
