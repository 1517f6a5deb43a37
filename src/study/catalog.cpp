#include "study/catalog.hpp"

#include <stdexcept>

#include "algorithms/registry.hpp"
#include "collectives/collective.hpp"
#include "models/data/dataset.hpp"
#include "plan/workload.hpp"
#include "sim/device.hpp"
#include "sim/links.hpp"
#include "sim/platform_check.hpp"
#include "sim/regions.hpp"
#include "sim/units.hpp"

namespace dadsim {

Catalog make_catalog() {
  Catalog catalog;
  for (const AlgorithmInfo& info : algorithm_registry()) {
    catalog.algorithms.push_back({info.name, info.parameters, info.sharing == Sharing::one_network});
  }
  for (const DeviceSpec& device : device_catalog()) catalog.devices.push_back(device.name);
  catalog.device_specs = device_catalog();
  for (const Workload& workload : workload_registry()) {
    catalog.workloads.push_back(workload.name);
    if (workload.dataset_size > 0) catalog.dataset_sizes[workload.name] = workload.dataset_size;
  }
  catalog.links = link_catalog();
  catalog.all_reduces = catalog.all_gathers = {"auto"};
  for (const CollectiveAlgorithm& algorithm : collective_registry()) {
    if (algorithm.kind == CollectiveKind::all_reduce) catalog.all_reduces.push_back(algorithm.name);
    if (algorithm.kind == CollectiveKind::all_gather) catalog.all_gathers.push_back(algorithm.name);
  }
  catalog.regions = region_names();
  catalog.region_pair = region_pair;
  catalog.parse_unit = [](Catalog::Unit unit, const std::string& text) -> std::optional<double> {
    switch (unit) {
      case Catalog::Unit::seconds:
        return parse_seconds(text);
      case Catalog::Unit::bytes:
        return parse_bytes(text);
      case Catalog::Unit::bytes_per_second:
        return parse_bytes_per_second(text);
      case Catalog::Unit::flops:
        return parse_flops(text);
    }
    throw std::logic_error("unknown unit");
  };
  catalog.check_platform = [](const Catalog::PlatformQuestion& question) {
    PlatformFindings findings = check_platform(question.platform, question.hosts, question.pairs);
    return Catalog::PlatformAnswer{std::move(findings.file_errors), std::move(findings.host_errors),
                                   std::move(findings.route_errors)};
  };
  catalog.inspect_data = [](const DataSource& source) {
    Catalog::DataAnswer answer;
    try {
      answer.facts = inspect_data(source);
    } catch (const InputError& error) {
      answer.errors = error.diagnostics();
    }
    return answer;
  };
  return catalog;
}

}  // namespace dadsim
