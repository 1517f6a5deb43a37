#include "scenario/elements/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <unordered_set>
#include <variant>
#include <vector>

#include "scenario/elements/conditions.hpp"
#include "scenario/elements/declared_hosts.hpp"
#include "scenario/elements/elements.hpp"
#include "scenario/elements/host_list.hpp"
#include "scenario/elements/read_parallelism.hpp"
#include "scenario/elements/read_platform.hpp"
#include "scenario/elements/stand_in.hpp"
#include "scenario/language/quantity.hpp"
#include "support/pattern.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

// Checks that names, patterns and classes of links outside <platform> match a link. The check builds the platform, and
// therefore comes after all others.

using Link = Catalog::NamedLink;

/// Loads the links of the platform when the first name is checked.
class NamedLinks {
 public:
  NamedLinks(const Scenario& scenario, const ReadContext& context) : scenario_(scenario), context_(context) {}

  /// Checks a name. `is_meant`: returns whether a link matches the text. `classes`: the text may also be a class of
  /// links.
  void check(const Node& node, const char* attribute, const std::string& text, bool classes,
             const std::function<bool(const Link&)>& is_meant) {
    if (!context_.catalog.links_of_platform || text.empty()) return;
    if (!links_) links_ = context_.catalog.links_of_platform(scenario_.platform);
    if (std::ranges::any_of(*links_, is_meant)) return;
    std::set<std::string> known;
    for (const Link& link : *links_) {
      known.insert(link.name);
      if (classes && !link.link_class.empty()) known.insert(link.link_class);
    }
    const std::vector<std::string> names(known.begin(), known.end());
    node.fail_at(attribute,
                 classes ? "matches no link of the platform and no class of links" : "matches no link of the platform",
                 context_.findings.full() ? "" : context_.findings.suggest(text, names));
  }

 private:
  const Scenario& scenario_;
  const ReadContext& context_;
  std::optional<std::vector<Link>> links_;
};

/// Checks the links in <fails> and <outage>, of the scenario and of its runs.
void check_links_of_failures(const Node& scenario_element, const Scenario& scenario, const ReadContext& context) {
  std::vector<const Element*> all{scenario_element.child("failures")};
  for (const Element* run : scenario_element.children("run"))
    all.push_back(Node(*run, context.findings).child("failures"));
  NamedLinks links(scenario, context);
  for (const Element* failures : all) {
    if (failures == nullptr) continue;
    for (const Element& child : failures->children) {
      if (child.find("links") == nullptr) continue;
      const Node one(child, context.findings);
      const std::string pattern = plain_name(one.text("links", ""));
      links.check(one, "links", pattern, false, [&](const Link& link) { return fits(pattern, link.name); });
    }
  }
}
/// Checks the links in <line> and <egress> of <costs>.

void check_links_of_costs(const Element& costs, const Scenario& scenario, const ReadContext& context) {
  const Node node(costs, context.findings);
  NamedLinks links(scenario, context);
  for (const Element* line : node.children("line")) {
    const Node one(*line, context.findings);
    const std::string pattern = one.text("link", "");
    links.check(one, "link", pattern, true,
                [&](const Link& link) { return fits(pattern, link.name) || link.link_class == pattern; });
  }
  if (const Element* egress = node.child("egress")) {
    const Node one(*egress, context.findings);
    const std::string text = one.text("links", "");
    links.check(one, "links", text, true,
                [&](const Link& link) { return link.name == text || link.link_class == text; });
  }
}

/// Workers and aggregator of <workers>, with their origins for findings about their hosts.
struct ClusterLinks {
  std::vector<spec::Placement> workers;
  std::vector<Origin> origins;  ///< origin of each worker
  std::optional<spec::Placement> aggregator;
  Origin aggregator_origin;
  bool ignore_memory = false;
};

/// Returns the host of <aggregator>.
std::string read_aggregator_host(const Node& node) {
  const std::vector<std::string> words =
      split_host_words(node.required_text("host", "the name of a host in the platform").value_or(""));
  if (words.empty()) return {};
  if (words.size() > 1) {
    node.fail_at("host", "is more than one name", "use one host; quote a name with spaces, as 'Edge 1'");
  } else if (words.front().size() > kMaxHostName) {
    node.fail_at("host", "is too long", fmt::format("at most {} bytes", kMaxHostName));
  } else {
    return words.front();
  }
  return {};
}

/// Returns the platform's hosts that a * in <worker hosts="…"> may match: hosts without a worker yet, except hubs and
/// the aggregator's host.
std::vector<std::string> hosts_left(const std::optional<spec::PlatformSpec>& platform, const ClusterLinks& cluster,
                                    const ReadContext& context) {
  if (!platform || !context.catalog.hosts_of_platform) return {};
  std::vector<std::string> hosts = context.catalog.hosts_of_platform(*platform);
  const std::vector<std::string> hubs = hubs_of(*platform);
  std::unordered_set<std::string> taken(hubs.begin(), hubs.end());
  if (cluster.aggregator) taken.insert(cluster.aggregator->host);
  for (const spec::Placement& worker : cluster.workers) taken.insert(worker.host);
  std::erase_if(hosts, [&](const std::string& host) { return taken.contains(host); });
  return hosts;
}

ClusterLinks read_workers(const Element& element, const std::vector<spec::DeviceSpec>& own_devices,
                          const std::optional<spec::PlatformSpec>& platform, const ReadContext& context) {
  const std::vector<std::string> devices = device_names(own_devices, context);
  const auto read_device = [&](const Node& node) {
    std::string name = node.required_text("device", "the name of a device; `dadsim devices` lists them").value_or("");
    if (!name.empty() && std::ranges::find(devices, name) == devices.end())
      node.fail_at("device", "is unknown", context.findings.suggest(spec::NameKind::device, name, devices));
    return name;
  };

  const Node node(element, context.findings);
  ClusterLinks cluster;
  cluster.ignore_memory = node.chosen("memory") == 1;
  if (const Element* aggregator = node.child("aggregator")) {
    const Node one(*aggregator, context.findings);
    spec::Placement placement;
    placement.device = read_device(one);
    placement.host = read_aggregator_host(one);
    cluster.aggregator = std::move(placement);
    cluster.aggregator_origin = one.origin("host");
  }
  const std::vector<const Element*> workers = node.children("worker");
  if (workers.empty())
    node.fail("<workers> lacks <worker>",
              "add at least one, e.g. <worker hosts=\"gpu-[0-15]\" device=\"a100-sxm4-80\"/>");
  for (const Element* worker : workers) {
    const Node one(*worker, context.findings);
    const std::string device = read_device(one);
    const spec::Placement kind = worker_table().read(one, context);
    const std::optional<std::string> text =
        one.required_text("hosts", "names of hosts in the platform, e.g. gpu-[0-15]");
    if (!text) continue;
    HostList list = expand_hosts(*text, kMaxWorkers - cluster.workers.size(),
                                 [&] { return hosts_left(platform, cluster, context); });
    if (!list.what.empty()) one.fail_at("hosts", list.what, list.remedy);
    for (std::string& host : list.hosts) {
      cluster.workers.push_back({std::move(host), device, kind.speed_spread, kind.speed});
      cluster.origins.push_back(one.origin("hosts"));
    }
  }
  return cluster;
}

/// Returns, for each worker and then the aggregator, whether a declared platform lacks its host; each such host is
/// named in a finding, or one of a longer list only as part of it.
std::vector<bool> check_hosts(const spec::PlatformSpec& platform, const ClusterLinks& cluster,
                              const ReadContext& context) {
  std::vector<bool> unknown(cluster.workers.size() + 1);
  if (std::holds_alternative<spec::PlatformFileSpec>(platform.what)) return unknown;
  const DeclaredHosts hosts(platform);
  // In longer lists of unknown hosts, only the first and the last are named.
  constexpr std::size_t kNamedOneByOne = 3;
  const auto check = [&](const std::vector<const std::string*>& missing, const Origin& origin) {
    const bool folded = missing.size() > kNamedOneByOne;
    for (std::size_t i = 0; i < (folded ? 1 : missing.size()); ++i) {
      context.findings.add(
          origin,
          fmt::format("no host '{}' in the platform", printable(*missing[i])) +
              (folded ? fmt::format(", nor any of {} more up to '{}'", missing.size() - 1, printable(*missing.back()))
                      : std::string()),
          context.findings.full() ? "" : hosts.suggest(*missing[i]));
    }
  };
  const auto is_missing = [&](const std::string& host) { return !host.empty() && !hosts.contains(host); };
  for (std::size_t i = 0; i < cluster.workers.size();) {
    const Origin& origin = cluster.origins[i];
    std::vector<const std::string*> missing;
    for (; i < cluster.workers.size() && cluster.origins[i] == origin; ++i) {
      unknown[i] = is_missing(cluster.workers[i].host);
      if (unknown[i]) missing.push_back(&cluster.workers[i].host);
    }
    check(missing, origin);
  }
  if (cluster.aggregator && is_missing(cluster.aggregator->host)) {
    unknown.back() = true;
    check({&cluster.aggregator->host}, cluster.aggregator_origin);
  }
  return unknown;
}

void check_platform(const spec::PlatformSpec& platform, const ClusterLinks& cluster,
                    const std::vector<spec::RunSpec>& runs, const ReadContext& context) {
  const std::vector<bool> unknown = check_hosts(platform, cluster, context);
  Catalog::PlatformQuestion question;
  question.platform = platform;
  for (const spec::Placement& worker : cluster.workers) question.hosts.push_back(worker.host);
  const std::size_t count = cluster.workers.size();
  const bool aggregator = cluster.aggregator && !cluster.aggregator->host.empty();
  if (aggregator) question.hosts.push_back(cluster.aggregator->host);
  const auto uses = [&](spec::ExchangeMode exchange) {
    return std::ranges::any_of(runs,
                               [&](const spec::RunSpec& run) { return run.exchange == exchange && run.communicates; });
  };
  const bool star = aggregator && uses(spec::ExchangeMode::aggregator);
  if (star) {
    for (std::size_t i = 0; i < count; ++i) question.pairs.emplace_back(i, count);
  }
  if (uses(spec::ExchangeMode::peer) && count > 1) {
    // A pair of workers covers both directions.
    for (std::size_t i = 0; i < (count == 2 ? 1 : count); ++i) question.pairs.emplace_back(i, (i + 1) % count);
  }

  Catalog::PlatformAnswer answer = context.catalog.check_platform(question);
  for (Diagnostic& error : answer.file_errors) context.findings.add(std::move(error));
  for (std::size_t i = 0; i < answer.host_errors.size() && i < question.hosts.size(); ++i) {
    const Origin& origin = i < count ? cluster.origins[i] : cluster.aggregator_origin;
    if (!answer.host_errors[i].empty() && !unknown[i])
      context.findings.add(origin, std::move(answer.host_errors[i]), "");
  }
  for (std::string& error : answer.route_errors) {
    context.findings.add(star ? cluster.aggregator_origin : cluster.origins.front(), std::move(error), "");
  }
}

/// Runs the second pass: checks a scenario that has been read against registries, data and this machine.
void check(Catalog::Check what, const Scenario& scenario, const spec::SampleShape& sample, const Node& node,
           const Element& data, const ReadContext& context) {
  const std::vector<const Element*> runs = node.children("run");
  if (!context.catalog.check || (what != Catalog::Check::memory && runs.size() != scenario.runs.size())) return;
  const auto element_of = [&](const Catalog::ScenarioFault& found) -> const Element& {
    if (found.element == "run") return *runs[found.run];
    if (found.element == "model") return *node.child("model");
    const Element* split = Node(data, context.findings).child("split");
    return split == nullptr ? data : *split;
  };
  for (Catalog::ScenarioFault& found : context.catalog.check(what, scenario, sample)) {
    const Node element(element_of(found), context.findings);
    if (found.attribute.empty()) {
      element.fail(std::move(found.fault));
    } else {
      element.fail_at(found.attribute, std::move(found.fault));
    }
  }
}

}  // namespace

Scenario read_scenario(const Element& root, const ReadContext& context) {
  Scenario scenario;
  scenario.file = context.path;
  if (root.name != "scenario" || root.in_namespace) {
    context.findings.add(root.origin,
                         root.in_namespace ? fmt::format("<{}> is in a namespace", printable(root.name))
                                           : fmt::format("the root element is <{}>", printable(root.name)),
                         root.in_namespace ? "remove xmlns: the language has no namespace"
                                           : "a scenario starts with <scenario name=\"…\">");
    return scenario;
  }
  const Node node(root, context.findings);
  scenario_table().read(node, context, scenario);
  if (const Element* description = node.child("description")) {
    const Node text(*description, context.findings);
    scenario.description = trimmed(description->text);
  }
  std::optional<spec::PlatformSpec> given_platform;
  if (const Element* platform = node.required_child("platform", "the cluster, e.g. <platform file=\"cluster.xml\"/>"))
    given_platform = read_platform(*platform, context);
  if (const Element* network = node.child("network")) {
    scenario.network = network_table().read(*network, context);
    // A platform file is checked later, once everything else is right.
    if (given_platform && !std::holds_alternative<spec::PlatformFileSpec>(given_platform->what))
      check_connections(*network, *given_platform, context);
  }
  if (const Element* framework = node.child("framework")) scenario.framework = read_framework(*framework, context);
  scenario.devices = read_devices(node, context);

  ClusterLinks cluster;
  if (const Element* workers =
          node.required_child("workers", "add the participants: <workers> with <worker hosts=\"…\" device=\"…\"/>"))
    cluster = read_workers(*workers, scenario.devices, given_platform, context);
  const Element* timed_as = node.child("timed-as");
  // Counts the workers; each may consist of several devices.
  const auto per_worker = static_cast<std::size_t>(devices_per_worker(timed_as));
  const std::size_t worker_count = std::max<std::size_t>(1, cluster.workers.size() / per_worker);
  const spec::PlatformSpec unread;
  PlacedHosts placed{{}, given_platform ? *given_platform : unread};
  for (const spec::Placement& worker : cluster.workers) placed.hosts.push_back(worker.host);
  if (cluster.aggregator) placed.hosts.push_back(cluster.aggregator->host);
  scenario.failures = read_failures(node, placed, context);
  const std::optional<StandIn> stand_in = read_timing_only(node, worker_count, context);
  scenario.timing_only = scenario.stand_in = stand_in.has_value();
  if (stand_in) scenario.payload = stand_in->payload;
  DataFindings data;
  const Element* data_element =
      stand_in ? &stand_in->data : node.required_child("data", "add training data: <data> with <digits/> or <idx …/>");
  if (data_element != nullptr) data = read_data(*data_element, worker_count, context);
  const Element* model =
      stand_in ? &stand_in->model
               : node.required_child("model", "add the network that learns: <model> with <dense units=\"…\"/>");
  if (model != nullptr) scenario.model = read_model(*model, data, context);
  const bool learns = data_element != nullptr && node.child("model") != nullptr;
  const auto check_memory = [&] {  // checks the memory that learning needs, before the network is built
    if (learns && context.findings.empty())
      check(Catalog::Check::memory, scenario, data.shape, node, *data_element, context);
  };
  check_memory();
  const bool model_is_right = context.findings.added() == 0;
  // Without <training> all its defaults apply, and are checked as if the element were present.
  const Element left_out{.name = "training", .origin = root.origin};
  const Element* training = stand_in ? &stand_in->training : node.child("training");
  scenario.training = read_training(training == nullptr ? left_out : *training, worker_count, data.train, context);
  if (timed_as != nullptr)
    scenario.timed_as =
        read_timed_as(*timed_as, scenario.training.batch, cluster.workers.size(), context, scenario.recorded);
  if (const Element* ladder = node.child("ladder")) scenario.ladder = read_ladder(*ladder, scenario, context);
  check_precision(scenario, cluster.workers, cluster.origins, timed_as, context);
  const LearningNetwork learning{model_is_right ? &scenario.model : nullptr, data.shape,
                                 scenario.training.batches == spec::TrainingSpec::Batches::equal};
  scenario.runs = read_runs(node, cluster.aggregator.has_value(), worker_count, scenario.training, scenario.timed_as,
                            learning, placed, context);
  if (const Element* framework = node.child("framework"))
    check_framework(*framework, scenario.framework, scenario.runs, context);
  if (const Element* network = node.child("network")) check_fidelity(*network, scenario.runs, context);
  if (stand_in) check_stand_in(node, *stand_in, scenario.runs, context);
  if (scenario.recorded) check_recorded(node, scenario, cluster.workers.size(), context);
  if (timed_as != nullptr) {
    if (!scenario.runs.empty() && std::ranges::all_of(scenario.runs, &spec::RunSpec::event_driven)) {
      Node(*timed_as, context.findings)
          .refuse("input-rate", "has no effect: it limits steps, and every run is event-driven", "remove it");
    }
    check_parallelism(*timed_as, *scenario.timed_as, cluster.workers.size(), scenario.runs, context);
  }
  if (data_element != nullptr)
    data.spec.drifts = read_drifts(*data_element, cluster.workers, data, scenario.runs, context);
  if (const Element* evaluation = node.child("evaluation"))
    scenario.evaluation = scenario::read_evaluation(*evaluation, data, scenario.runs, context);
  if (const Element* costs = node.child("costs")) scenario.costs = read_costs(*costs, scenario.devices, context);
  if (!scenario.costs && scenario.metric != spec::AskedMetric::automatic &&
      scenario.metric != spec::AskedMetric::throughput) {
    node.fail_at("metric", "needs costs", "add <costs> to the scenario");
  }
  if (const Element* goal = node.child("goal")) scenario.goal = scenario::read_goal(*goal, scenario, context);
  if (const Element* sweep = node.child("sweep")) scenario.sweep = read_sweep(*sweep, context);
  if (const Element* study = node.child("scale-study"))
    scenario.scale_study = read_scale_study(*study, scenario, context);

  if (given_platform && !cluster.workers.empty()) {
    check_platform(*given_platform, cluster, scenario.runs, context);
  }
  if (given_platform) {
    draw_populations_from(scenario.seed, *given_platform);
    scenario.platform = std::move(*given_platform);
  }
  if (context.findings.empty()) check_conditions(scenario, node.children("run"), context);
  scenario.ignore_memory = cluster.ignore_memory;
  if (per_worker > 1 && !cluster.workers.empty() && cluster.workers.size() % per_worker == 0) {
    scenario.devices_of_workers = std::move(cluster.workers);
    const auto side_by_side = static_cast<std::size_t>(scenario.timed_as->parallelism.of_stage());
    for (std::size_t d = 0; d < worker_count; ++d)
      scenario.workers.push_back(scenario.devices_of_workers[d * side_by_side]);
  } else {
    scenario.workers = std::move(cluster.workers);
  }
  scenario.aggregator = std::move(cluster.aggregator);
  scenario.data = std::move(data.spec);
  check_memory();
  if (context.findings.empty()) {
    // Not checked here: groups of collectives among workers with several devices are known only after steps have been
    // recorded.
    const auto ask = [&](Catalog::Check what) { check(what, scenario, data.shape, node, *data_element, context); };
    if (per_worker == 1) ask(Catalog::Check::collectives);
    ask(Catalog::Check::split);
    check_links_of_failures(node, scenario, context);
    const Element* network = node.child("network");
    if (network != nullptr && std::holds_alternative<spec::PlatformFileSpec>(scenario.platform.what))
      check_connections(*network, scenario.platform, context);
    if (const Element* costs = node.child("costs")) check_links_of_costs(*costs, scenario, context);
    if (context.findings.empty()) ask(Catalog::Check::runs);
  }
  return scenario;
}

}  // namespace dadsim::scenario
