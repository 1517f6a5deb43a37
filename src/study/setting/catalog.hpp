#pragma once

#include <string>
#include <vector>

#include "report/words/statement.hpp"
#include "scenario/document/load.hpp"
#include "scenario/language/catalog.hpp"
#include "spec/near_names.hpp"

namespace dadsim::study {

/// Returns the names that scenarios may use in this build (algorithms, devices, workloads), with checks of platform and
/// data files.
scenario::Catalog make_catalog();
/// Returns the catalogue for scenarios whose learning is skipped (--timing-only).
scenario::Catalog make_catalog_without_learning();

/// Loads the base scenario of a sweep or a plan. Its memory is not checked, because its variations may fit. Throws
/// InputError.
scenario::Scenario load_base(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                             const scenario::Catalog& catalog);

/// Returns a catalogue that wraps `catalog` and examines each platform and data source only once, because the points of
/// a sweep use the same ones thousands of times. Platforms that differ only in bandwidths, latencies and similar
/// numbers count as equal, since hosts and routes do not depend on them. Thread-safe.
scenario::Catalog remembering(scenario::Catalog catalog);

/// Returns the name that the text of an option means, and adds the assumption to `taken` if they differ. `usual`: the
/// name preferred among several. Throws InputError with `option`, `unknown` and the nearest names if no name is
/// similar.
std::string meant_name(spec::NameKind kind, const std::string& option, const std::string& typed,
                       const std::vector<std::string>& names, const std::string& unknown,
                       std::vector<report::Statement>& taken, const std::string& usual = {});

/// Returns the names of the catalogue of links.
std::vector<std::string> names_of_links();

}  // namespace dadsim::study
