#include "study/setting/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <variant>

#include "collectives/collective.hpp"
#include "compress/registry.hpp"
#include "models/data/dataset.hpp"
#include "protocols/registry.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/scenario.hpp"
#include "scenario/xml/findings.hpp"
#include "sim/device.hpp"
#include "sim/operations.hpp"
#include "sim/platform.hpp"
#include "spec/sample_shape.hpp"
#include "study/setting/for_each_link.hpp"
#include "study/setting/memory_check.hpp"
#include "study/setting/run_check.hpp"
#include "study/setting/scale_setting.hpp"
#include "study/store/memory_store.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/interrupt.hpp"
#include "support/memory_limit.hpp"

namespace dadsim::study {
namespace {

using ScenarioFaults = std::vector<scenario::Catalog::ScenarioFault>;

/// Returns the fault of a collective, in the words that its timing would use; none if it can be carried out. Algorithms
/// for any number of ranks are not checked against the platform.
std::optional<Fault> fault_of_collective(const scenario::Scenario& scenario, step::CollectiveKind kind,
                                         const std::string& algorithm) {
  collectives::CollectiveRequest request;
  request.kind = kind;
  request.bytes = {1.0};
  const auto fault = [&](const collectives::RankLayout& layout) -> std::optional<Fault> {
    try {
      static_cast<void>(lay_out(request, algorithm, layout));
      return std::nullopt;
    } catch (const collectives::RefusedCollective& refused) {
      return refused.fault();
    }
  };
  collectives::RankLayout uneven;  // ranks without regular structure
  uneven.node_of = {0, 0, 1};
  if (!fault(uneven)) return {};
  std::vector<std::string> hosts;
  for (const spec::Placement& worker : scenario.workers) hosts.push_back(worker.host);
  try {
    const std::optional<collectives::RankLayout> layout = sim::ranks_on(scenario.platform, hosts);
    return layout ? fault(*layout) : std::nullopt;
  } catch (const Cancelled&) {
    throw;
  } catch (const EnvironmentError&) {
    throw;
  } catch (const std::runtime_error&) {
    return {};  // other checks report an invalid platform
  }
}

/// Returns the faults of the collective algorithms that runs name, before learning. Otherwise such a run would fail
/// after learning, when it is timed.
ScenarioFaults faults_of_named_collectives(const scenario::Scenario& scenario) {
  ScenarioFaults faults;
  if (scenario.workers.size() < 2) return faults;
  for (std::size_t i = 0; i < scenario.runs.size(); ++i) {
    const spec::RunSpec& run = scenario.runs[i];
    if (!run.communicates || run.event_driven || run.exchange != spec::ExchangeMode::peer) continue;
    using Named = std::pair<step::CollectiveKind, const std::string*>;
    for (const auto& [kind, algorithm] : {Named{step::CollectiveKind::all_reduce, &run.all_reduce},
                                          Named{step::CollectiveKind::all_gather, &run.all_gather},
                                          Named{step::CollectiveKind::reduce_scatter, &run.reduce_scatter}}) {
      if (*algorithm == "auto") continue;
      if (std::optional<Fault> fault = fault_of_collective(scenario, kind, *algorithm))
        faults.push_back({"run", i, to_string(kind), *std::move(fault)});
    }
  }
  return faults;
}

/// Returns the fault of a split that leaves a worker without samples. For splits by class and by site this depends on
/// the data; other splits are checked when the scenario is read.
ScenarioFaults fault_of_split(const scenario::Scenario& scenario) {
  constexpr std::int64_t kMostLoaded = 200'000;  // samples; above this an empty class is rare
  const spec::SplitSpec& split = scenario.data.split;
  if (split.kind != spec::SplitSpec::Kind::by_class && split.kind != spec::SplitSpec::Kind::by_site) return {};
  if (std::visit([](const auto& one) { return one.train; }, scenario.data.source) > kMostLoaded) return {};
  for (std::int64_t i = 0; i < std::max<std::int64_t>(1, scenario.training.seeds); ++i) {
    const std::uint64_t seed = scenario.seed + static_cast<std::uint64_t>(i);
    try {
      const models::Dataset set = models::load_dataset(scenario.data, seed);
      static_cast<void>(split_over_sites(split, set.train, set.classes, scenario.workers.size(), seed));
    } catch (const InputError& error) {
      const Diagnostic& first = error.diagnostics().front();
      return {{"split", 0, "by", Fault{first.what, first.remedy}}};
    }
  }
  return {};
}

/// Returns the faults that a check of Catalog::Check finds in a completely read scenario (for memory: without its
/// runs), with samples of this shape.
ScenarioFaults check_scenario(scenario::Catalog::Check what, const scenario::Scenario& scenario,
                              const spec::SampleShape& sample) {
  using Check = scenario::Catalog::Check;
  if (what == Check::collectives) return faults_of_named_collectives(scenario);
  if (what == Check::split) return fault_of_split(scenario);
  ScenarioFaults faults;
  if (what == Check::memory) {
    if (const std::optional<Fault> fault = fault_of_host_memory(scenario, sample, memory_limit()))
      faults.push_back({"model", 0, "", Fault{"<model>: " + fault->what, fault->remedy}});
    return faults;
  }
  for (auto& [run, fault] : faults_of_runs(scenario, sample)) {
    fault.what = fmt::format("run '{}': {}", scenario::printable(scenario.runs[run].label), fault.what);
    faults.push_back({"run", run, "", std::move(fault)});
  }
  return faults;
}

/// Returns a placeholder for a link, because hosts and routes depend only on its existence.
spec::LinkSpec some_link(const spec::LinkSpec& link) {
  spec::LinkSpec some;
  if (link.bandwidth > 0) {
    some.name = "link";
    some.bandwidth = 1;
  }
  return some;
}

std::string as_text(const scenario::Catalog::PlatformQuestion& question) {
  spec::PlatformSpec platform = question.platform;
  for_each_link(
      platform, [](spec::LinkSpec& link) { link = some_link(link); },
      [](spec::WanSpec::Pair& pair) {
        pair.bandwidth = 1;
        pair.round_trip = 0;
      });
  platform.description.clear();
  scenario::XmlWriter xml;
  write_platform(xml, platform, [](const std::string& path) { return path; });
  std::string text = xml.finish();
  for (const std::string& host : question.hosts) text += host + '\n';
  for (const auto& [from, to] : question.pairs) text += fmt::format("{}>{}\n", from, to);
  return text;
}

std::string as_text(const spec::PlatformSpec& platform) {
  return as_text(scenario::Catalog::PlatformQuestion{platform, {}, {}});
}

std::string as_text(const spec::DataSource& source) {
  scenario::XmlWriter xml;
  write_data(xml, spec::DataSpec{source, {}, {}, {}}, [](const std::string& path) { return path; });
  return xml.finish();
}

/// Returns the parts of a scenario that a check depends on, as a key shared by points of a sweep; nullopt if the check
/// is not cached.
std::optional<std::string> as_text(scenario::Catalog::Check what, const scenario::Scenario& scenario) {
  if (what == scenario::Catalog::Check::collectives) {
    std::string named;
    for (const spec::RunSpec& run : scenario.runs) {
      const bool asks = run.communicates && !run.event_driven && run.exchange == spec::ExchangeMode::peer &&
                        !(run.all_reduce == "auto" && run.all_gather == "auto" && run.reduce_scatter == "auto");
      named += asks ? fmt::format("{} {} {}\n", run.all_reduce, run.all_gather, run.reduce_scatter) : "\n";
    }
    if (named.find_first_not_of("\n") == std::string::npos) return std::nullopt;
    scenario::Catalog::PlatformQuestion question{scenario.platform, {}, {}};
    for (const spec::Placement& worker : scenario.workers) question.hosts.push_back(worker.host);
    return named + as_text(question);
  }
  if (what != scenario::Catalog::Check::split) return std::nullopt;
  scenario::XmlWriter xml;
  write_data(xml, scenario.data, [](const std::string& path) { return path; });
  return fmt::format("{} {} {}\n{}", scenario.workers.size(), scenario.seed, scenario.training.seeds, xml.finish());
}

/// Wraps a question of the catalogue so that its answers are cached.
template <class Answer, class Asked>
void remember(std::function<Answer(const Asked&)>& question) {
  question = [ask = question, memory = std::make_shared<AnswerMemory<Answer>>()](const Asked& asked) {
    return memory->answer(as_text(asked), [&] { return ask(asked); });
  };
}

}  // namespace

scenario::Scenario load_base(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                             const scenario::Catalog& catalog) {
  try {
    return source.load(overrides, catalog);
  } catch (const InputError& error) {
    if (!error.is_infeasible()) throw;
    std::vector<std::string> unchecked = overrides;
    unchecked.emplace_back("workers.memory=ignore");
    try {
      return source.load(unchecked, catalog);
    } catch (const InputError&) {
      throw error;  // memory was not the cause
    }
  }
}

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
    // Files that could do harm are not loaded.
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
    // Checks event-driven runs like synchronous ones: without learning, clients have no data, but each kind of run has
    // a network.
    if (what == scenario::Catalog::Check::memory)
      for (spec::RunSpec& run : scenario.runs) run.event_driven = false;
    if (what == scenario::Catalog::Check::runs) scenario.timing_only = true;
    return check_scenario(what, scenario, sample);
  };
  return catalog;
}

scenario::Catalog remembering(scenario::Catalog catalog) {
  remember(catalog.check_platform);
  remember(catalog.hosts_of_platform);
  remember(catalog.links_of_platform);
  remember(catalog.inspect_data);
  using Check = scenario::Catalog::Check;
  const auto faults = std::make_shared<AnswerMemory<std::vector<scenario::Catalog::ScenarioFault>>>();
  catalog.check = [ask = catalog.check, faults](Check what, const scenario::Scenario& scenario,
                                                const spec::SampleShape& sample) {
    const std::optional<std::string> asked = as_text(what, scenario);
    return asked ? faults->answer(*asked, [&] { return ask(what, scenario, sample); }) : ask(what, scenario, sample);
  };
  return catalog;
}

std::string meant_name(spec::NameKind kind, const std::string& option, const std::string& typed,
                       const std::vector<std::string>& names, const std::string& unknown,
                       std::vector<report::Statement>& taken, const std::string& usual) {
  const spec::NameMeant meant = spec::name_meant(kind, typed, names, usual);
  if (meant.name.empty()) {
    const bool is_family = std::ranges::find(names, typed) != names.end();
    throw InputError(Diagnostic{option, 0,
                                fmt::format("'{}' {}", typed, is_family ? "has many sizes" : "is " + unknown),
                                remedy_for_name(kind, meant)});
  }
  if (!meant.why.empty()) taken.push_back(report::Statement{"near-name", {typed, meant.name}}.with("why", meant.why));
  return meant.name;
}

std::vector<std::string> names_of_links() {
  std::vector<std::string> names;
  for (const spec::LinkSpec& link : sim::link_catalog()) names.push_back(link.name);
  return names;
}

}  // namespace dadsim::study
