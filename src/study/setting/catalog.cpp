#include "study/setting/catalog.hpp"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "collectives/collective.hpp"
#include "compress/registry.hpp"
#include "models/data/dataset.hpp"
#include "protocols/registry.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "study/setting/host_memory.hpp"
#include "study/setting/ladder_of.hpp"
#include "study/setting/run_check.hpp"
#include "support/environment_error.hpp"
#include "support/interrupt.hpp"
#include "support/memory_limit.hpp"

namespace dadsim::study {

namespace {

/// The same words as when it is timed; whichever algorithm serves any ranks needs no look at the platform.
std::optional<Fault> fault_of_collective(const scenario::Catalog::PlatformQuestion& question,
                                         const std::string& collective, const std::string& algorithm) {
  collectives::CollectiveRequest request;
  for (const step::CollectiveKind kind :
       {step::CollectiveKind::all_reduce, step::CollectiveKind::all_gather, step::CollectiveKind::reduce_scatter}) {
    if (collective == to_string(kind)) request.kind = kind;
  }
  request.bytes = {1.0};
  const auto fault = [&](const collectives::RankLayout& layout) -> std::optional<Fault> {
    try {
      static_cast<void>(lay_out(request, algorithm, layout));
      return std::nullopt;
    } catch (const collectives::RefusedCollective& refused) {
      return refused.fault();
    }
  };
  collectives::RankLayout uneven;  // nothing that it could rest on
  uneven.node_of = {0, 0, 1};
  if (!fault(uneven)) return {};
  std::map<std::string, std::int32_t> node_of;
  try {
    for (const sim::PlatformHost& host : sim::platform_hosts(question.platform)) node_of[host.name] = host.node;
  } catch (const Cancelled&) {
    throw;
  } catch (const EnvironmentError&) {
    throw;
  } catch (const std::runtime_error&) {
    return {};  // what cannot be built has findings of its own
  }
  collectives::RankLayout layout;
  std::map<std::int32_t, std::int32_t> number_of;
  for (const std::string& host : question.hosts) {
    const auto found = node_of.find(host);
    if (found == node_of.end()) return {};
    const auto next = static_cast<std::int32_t>(number_of.size());
    layout.node_of.push_back(number_of.try_emplace(found->second, next).first->second);
  }
  return fault(layout);
}

std::optional<Fault> fault_of_split(const spec::DataSpec& data, std::size_t workers, std::uint64_t seed) {
  try {
    const models::Dataset set = models::load_dataset(data, seed);
    static_cast<void>(split_over_sites(data.split, set.train, set.classes, workers, seed));
    return {};
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    return Fault{first.what, first.remedy};
  }
}

}  // namespace

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
  catalog.check_collective = fault_of_collective;
  catalog.check_split = fault_of_split;
  catalog.check_host_memory = [](const scenario::Scenario& scenario, const spec::SampleShape& sample) {
    return fault_of_host_memory(scenario, sample, memory_limit());
  };
  catalog.check_runs = faults_of_runs;
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
  // Clients that learn nothing hold nothing; a network of each kind there is all the same.
  catalog.check_host_memory = [check = catalog.check_host_memory](scenario::Scenario scenario,
                                                                  const spec::SampleShape& sample) {
    for (spec::RunSpec& run : scenario.runs) run.event_driven = false;
    return check(scenario, sample);
  };
  catalog.check_runs = [check = catalog.check_runs](scenario::Scenario scenario, const spec::SampleShape& sample) {
    scenario.timing_only = true;
    return check(scenario, sample);
  };
  return catalog;
}

}  // namespace dadsim::study
