#include "study/setting/catalog.hpp"

#include "collectives/collective.hpp"
#include "compress/registry.hpp"
#include "models/data/dataset.hpp"
#include "protocols/registry.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "study/setting/check_scenario.hpp"
#include "study/setting/ladder_of.hpp"

namespace dadsim::study {

scenario::Catalog make_catalog() {
  scenario::Catalog catalog;
  for (const methods::MethodInfo* info : protocols::all_methods()) catalog.algorithms.push_back(*info);
  for (const compress::CompressorInfo& info : compress::compressors().all()) {
    catalog.compressors.push_back({.name = info.name,
                                   .parameters = info.parameters,
                                   .lossless = info.lossless,
                                   .adapts = info.adapts,
                                   .biased = info.biased,
                                   .has_momentum = info.has_momentum});
  }
  catalog.devices = sim::device_catalog().names();
  catalog.device_specs = sim::device_catalog().all();
  catalog.check_ladder = fault_of_ladder;
  catalog.links = sim::link_catalog();
  catalog.all_reduces = catalog.all_gathers = catalog.reduce_scatters = {"auto", "best"};
  for (const collectives::CollectiveAlgorithm& algorithm : collectives::collective_registry()) {
    if (algorithm.kind == step::CollectiveKind::all_reduce) catalog.all_reduces.push_back(algorithm.name);
    if (algorithm.kind == step::CollectiveKind::all_gather) catalog.all_gathers.push_back(algorithm.name);
    if (algorithm.kind == step::CollectiveKind::reduce_scatter) catalog.reduce_scatters.push_back(algorithm.name);
  }
  catalog.regions = sim::region_names();
  catalog.region_pair = sim::region_pair;
  catalog.check_platform = [](const scenario::Catalog::PlatformQuestion& question) {
    sim::PlatformFindings findings = sim::check_platform(question.platform, question.hosts, question.pairs);
    return scenario::Catalog::PlatformAnswer{std::move(findings.file_errors), std::move(findings.host_errors),
                                             std::move(findings.route_errors)};
  };
  catalog.files_of_platform = sim::files_of_platform;
  catalog.hosts_of_platform = [](const spec::PlatformSpec& platform) {
    std::vector<std::string> names;
    // Nothing is loaded of a file that would do harm.
    if (!sim::check_platform(platform, {}, {}).file_errors.empty()) return names;
    for (sim::PlatformHost& host : sim::platform_hosts(platform)) names.push_back(std::move(host.name));
    return names;
  };
  catalog.links_of_platform = [](const spec::PlatformSpec& platform) {
    std::vector<scenario::Catalog::NamedLink> links;
    for (sim::PlatformLink& link : sim::platform_links(platform))
      links.push_back({std::move(link.name), std::move(link.link_class), link.is_goodput});
    return links;
  };
  catalog.check = check_scenario;
  catalog.inspect_data = [](const spec::DataSource& source) {
    scenario::Catalog::DataAnswer answer;
    try {
      answer.facts = models::inspect_data(source);
    } catch (const InputError& error) {
      answer.errors = error.diagnostics();
    }
    return answer;
  };
  return catalog;
}

scenario::Catalog make_catalog_without_learning() {
  scenario::Catalog catalog = make_catalog();
  catalog.check = [](scenario::Catalog::Check what, scenario::Scenario scenario, const spec::SampleShape& sample) {
    // Clients that learn nothing hold nothing; a network of each kind there is all the same.
    if (what == scenario::Catalog::Check::memory)
      for (spec::RunSpec& run : scenario.runs) run.event_driven = false;
    if (what == scenario::Catalog::Check::runs) scenario.timing_only = true;
    return check_scenario(what, scenario, sample);
  };
  return catalog;
}

}  // namespace dadsim::study
