#pragma once

#include <string>
#include <vector>

#include "report/words/statement.hpp"
#include "scenario/document/load.hpp"
#include "scenario/language/catalog.hpp"
#include "spec/near_names.hpp"

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

/// Returns a catalogue that wraps `catalog`, but examines each platform and data source only once: the points of a
/// sweep ask for the same ones thousands of times. Platforms that differ only in bandwidths, latencies and the like are
/// equal: hosts and routes do not depend on them. Several threads may use it at once.
scenario::Catalog remembering(scenario::Catalog catalog);

/// Returns the name meant by the text of an option, and adds the assumption to `taken` if the text differs from the
/// name. `usual`: the name preferred among several. Throws InputError with `option`, `unknown` and the nearest names if
/// no name is meant.
std::string meant_name(spec::NameKind kind, const std::string& option, const std::string& typed,
                       const std::vector<std::string>& names, const std::string& unknown,
                       std::vector<report::Statement>& taken, const std::string& usual = {});

/// Returns the names of the catalogue of links.
std::vector<std::string> names_of_links();

}  // namespace dadsim::study
