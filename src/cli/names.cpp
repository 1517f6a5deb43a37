#include "cli/names.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "algorithms/registry.hpp"
#include "collectives/collective.hpp"
#include "compress/registry.hpp"
#include "protocols/registry.hpp"
#include "scenario/schema.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "spec/preset.hpp"
#include "spec/workload.hpp"
#include "study/setting/catalog.hpp"

namespace dadsim::cli {
namespace {

void append_names(std::vector<std::string>& names, const auto& entries) {
  for (const auto& entry : entries) names.push_back(entry.name);
}

/// What else may stand where a name of the catalogue may, as a type of the schema; empty: nothing.
struct OpenNames {
  std::string_view kind, rest;
};
constexpr std::array kOpenNames{
    OpenNames{"devices", "<xs:simpleType><xs:restriction base=\"Text\"/></xs:simpleType>"},  // of the scenario itself
    OpenNames{"links",
              "<xs:simpleType><xs:restriction base=\"xs:string\"><xs:pattern value=\"\\s*[0-9.].*\"/>"
              "</xs:restriction></xs:simpleType>"}};  // a bandwidth

std::string type_of_names(std::string_view kind) {
  std::string names = "<xs:restriction base=\"xs:string\">";
  for (const std::string& name : names_of(kind)) names += "<xs:enumeration value=\"" + name + "\"/>";
  names += "</xs:restriction>";
  const auto* open = std::ranges::find(kOpenNames, kind, &OpenNames::kind);
  if (open == kOpenNames.end()) return names;
  return "<xs:union><xs:simpleType>" + names + "</xs:simpleType>" + std::string(open->rest) + "</xs:union>";
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

std::string schema_with_names() {
  constexpr std::string_view kMark = "<xs:appinfo>";
  constexpr std::string_view kPlain = "<xs:restriction base=\"Text\"/>";
  std::string schema(scenario::scenario_schema());
  for (std::size_t at = schema.find("<xs:simpleType name="); at != std::string::npos;
       at = schema.find("<xs:simpleType name=", at + 1)) {
    const std::size_t end = schema.find("\n  </xs:simpleType>", at);
    const std::size_t mark = schema.find(kMark, at);
    if (mark >= end) continue;
    const std::size_t kind = mark + kMark.size();
    const std::string names = type_of_names(std::string_view(schema).substr(kind, schema.find('<', kind) - kind));
    const std::size_t plain = schema.find(kPlain, kind);
    if (plain >= end) throw std::logic_error("scenario.xsd: a type of names without a place for them");
    schema.replace(plain, kPlain.size(), names);
  }
  return schema;
}

}  // namespace dadsim::cli
