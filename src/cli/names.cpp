#include "cli/names.hpp"

#include <algorithm>

#include "algorithms/registry.hpp"
#include "collectives/collective.hpp"
#include "compress/registry.hpp"
#include "protocols/registry.hpp"
#include "scenario/language/schema.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "spec/framework_specification.hpp"
#include "spec/preset.hpp"
#include "spec/workload.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim::cli {
namespace {

void append_names(std::vector<std::string>& names, const auto& entries) {
  for (const auto& entry : entries) names.push_back(entry.name);
}

}  // namespace

std::vector<std::string> names_of(std::string_view kind) {
  std::vector<std::string> names;
  if (kind == "algorithms") {
    append_names(names, algorithms::algorithm_registry().all());
    append_names(names, protocols::protocol_registry().all());
  } else if (kind == "compressors") {
    append_names(names, compress::compressors().all());
  } else if (kind == "devices") {
    append_names(names, sim::device_catalog().all());
  } else if (kind == "links") {
    append_names(names, sim::link_catalog());
  } else if (kind == "frameworks") {
    for (const spec::FrameworkFacts& facts : spec::framework_facts()) {
      if (names.empty() || names.back() != facts.spec.name) names.push_back(facts.spec.name);
    }
  } else if (kind == "models") {
    append_names(names, spec::preset_registry().all());
  } else if (kind == "workloads") {
    append_names(names, spec::workload_registry().all());
  } else if (kind == "regions") {
    names = sim::region_names();
  } else if (kind == "all-reduces") {
    names = study::make_catalog().all_reduces;
  } else if (kind == "all-gathers") {
    names = study::make_catalog().all_gathers;
  } else if (kind == "reduce-scatters") {
    names = study::make_catalog().reduce_scatters;
  } else if (kind == "collectives") {
    for (const collectives::CollectiveAlgorithm& one : collectives::collective_registry()) {
      if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
    }
  }
  return names;
}

std::string schema_with_names() { return scenario::schema_with(names_of); }

}  // namespace dadsim::cli
