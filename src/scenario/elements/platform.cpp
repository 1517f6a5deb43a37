#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "scenario/elements/declared_hosts.hpp"
#include "scenario/elements/elements.hpp"
#include "scenario/elements/host_list.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read_platform.hpp"
#include "scenario/language/schema.hpp"
#include "scenario/xml/element.hpp"
#include "scenario/xml/files.hpp"
#include "support/pattern.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxClusters = 100;

bool is_cluster(const Element& element) {
  return element.name == "gpu-cluster" || element.name == "federation" || element.name == "wan";
}

std::vector<const Element*> clusters_of(const Element& platform) {
  std::vector<const Element*> clusters;
  for (const Element& child : platform.children) {
    if (is_cluster(child)) clusters.push_back(&child);
  }
  return clusters;
}

/// Enlarges the queues of TCP adapters to the bytes in flight towards another cluster; no attribute sets these queues.
void let_queues_grow(spec::CompositionSpec& composition) {
  double round_trip = 0;
  for (const spec::WanSpec::Pair& pair : composition.pairs) round_trip = std::max(round_trip, pair.round_trip);
  for (auto& cluster : composition.clusters) {
    auto* gpus = std::get_if<spec::GpuClusterSpec>(&cluster);
    if (gpus == nullptr) continue;
    const double given = gpus->nic.queue_bytes;
    for (spec::LinkSpec* link : {&gpus->nic, &gpus->fabric.link}) {
      if (link->transport == spec::Transport::tcp)
        link->queue_bytes = std::max(link->queue_bytes, link->bandwidth * round_trip);
    }
    // One attribute sets the queues of all adapters.
    if (gpus->nic.queue_bytes > given && gpus->fabric.link.transport == spec::Transport::tcp)
      gpus->fabric.link.queue_bytes = std::max(gpus->fabric.link.queue_bytes, gpus->nic.queue_bytes);
    for (spec::NodeGroup& group : gpus->more) group.nic.queue_bytes = gpus->nic.queue_bytes;
  }
}

spec::CompositionSpec read_composition(const Node& platform, const std::vector<const Element*>& clusters,
                                       const ReadContext& context) {
  const std::size_t before = context.findings.added();
  spec::CompositionSpec composition;
  std::vector<std::string> names;
  for (const Element* element : clusters) {
    std::string name;
    if (element->name == "wan") {
      read_wan(*element, context);
      context.findings.add(element->origin, "<wan> cannot be combined with another cluster",
                           "remove one of them: a <wan> contains all its regions");
      continue;
    }
    if (element->name == "gpu-cluster") {
      spec::GpuClusterSpec cluster = scenario::read_gpu_cluster(*element, context);
      name = cluster.name;
      composition.clusters.emplace_back(std::move(cluster));
    } else {
      spec::FederationSpec federation = read_federation(*element, context);
      name = federation.name;
      composition.clusters.emplace_back(std::move(federation));
    }
    const Attribute* attribute = element->find("name");
    if (attribute == nullptr) {
      context.findings.add(element->origin, fmt::format("<{}> lacks 'name'", element->name),
                           "give each of several clusters its own name");
    } else if (!name.empty() && std::ranges::find(names, name) != names.end()) {
      context.findings.add(
          attribute->origin,
          fmt::format("name=\"{}\" of <{}> is the name of another cluster", printable(name), element->name),
          "use another name");
    }
    names.push_back(std::move(name));
  }
  const bool all_right = names.size() == clusters.size() && context.findings.added() == before;
  GivenPairs pairs(platform, std::move(names), "cluster", context);
  if (all_right && !pairs.unclear()) {
    for (std::size_t a = 0; a < clusters.size(); ++a) {
      for (std::size_t b = a + 1; b < clusters.size(); ++b) {
        MissingPair missing = missing_between(pairs, a, b);
        if (!missing.what.empty()) platform.fail(std::move(missing.what), std::move(missing.remedy));
      }
    }
  }
  composition.pairs = pairs.take();
  let_queues_grow(composition);
  return composition;
}

/// Reads the clusters inside <platform> or <cluster-platform>, at least one.
void read_clusters(const Node& node, spec::PlatformSpec& platform, const ReadContext& context) {
  const std::vector<const Element*> clusters = clusters_of(node.element());
  if (clusters.size() > kMaxClusters) {
    node.fail(fmt::format("{} clusters", clusters.size()), fmt::format("at most {}", kMaxClusters));
    return;
  }
  if (clusters.size() > 1) {
    platform.what = read_composition(node, clusters, context);
    return;
  }
  const Element& only = *clusters.front();
  if (only.name == "gpu-cluster") platform.what = scenario::read_gpu_cluster(only, context);
  if (only.name == "federation") platform.what = read_federation(only, context);
  if (only.name == "wan") platform.what = read_wan(only, context);
  for (const Element* pair : node.children("pair")) {
    context.findings.add(pair->origin, fmt::format("<pair> in <{}> needs several clusters", node.element().name),
                         "remove it, or add a cluster; pairs of regions belong inside <wan>");
  }
}

/// Returns the hosts of a declared platform. Nullopt if they are unknown: an error was found since `before`, or the
/// platform is a file.
std::optional<DeclaredHosts> declared_hosts(const Node& node, const spec::PlatformSpec& platform, std::size_t before,
                                            const ReadContext& context) {
  const bool file = std::holds_alternative<spec::PlatformFileSpec>(platform.what);
  if (file || context.findings.added() > before) return std::nullopt;
  const std::int64_t count = count_hosts(platform);
  if (count > kMaxHosts) {
    node.fail(fmt::format("<{}> has {} hosts", node.element().name, count), fmt::format("at most {}", kMaxHosts));
    return std::nullopt;
  }
  DeclaredHosts hosts(platform);
  if (!hosts.twice().empty()) {
    node.fail(fmt::format("two hosts are called '{}'", printable(hosts.twice())),
              "use different names; the hub of a <federation> is called 'hub'");
    return std::nullopt;
  }
  return hosts;
}

/// Checks that a declared platform has the links that its changes and profiles name.
void check_links(const Node& node, const spec::PlatformSpec& platform,
                 const std::vector<spec::PlatformSpec::Profile>& profiles, std::size_t before,
                 const ReadContext& context) {
  // A change names links or, with `classes`, a class of links; a profile names links only.
  const auto check = [&](const char* element, const std::vector<std::string>& links, bool classes) {
    const std::vector<const Element*> elements = node.children(element);
    if (elements.size() != links.size() || links.empty() || context.findings.added() > before) return;
    spec::PlatformSpec as_built = platform;
    as_built.changes.clear();
    as_built.profiles.clear();
    std::vector<std::string> names;
    std::set<std::string> known;
    for (Catalog::NamedLink& link : context.catalog.links_of_platform(as_built)) {
      names.push_back(std::move(link.name));
      if (classes && !link.link_class.empty()) known.insert(std::move(link.link_class));
    }
    known.insert(names.begin(), names.end());
    const std::vector<std::string> meant(known.begin(), known.end());
    for (std::size_t i = 0; i < links.size(); ++i) {
      const bool one = known.contains(links[i]);
      if (one || std::ranges::any_of(names, [&](const std::string& name) { return fits(links[i], name); })) continue;
      Node(*elements[i], context.findings)
          .fail_at("link", "matches no link of the platform", context.findings.suggest(links[i], meant));
    }
  };
  if (!context.catalog.links_of_platform) return;
  std::vector<std::string> changed, followed;
  for (const spec::LinkChange& change : platform.changes) changed.push_back(change.link);
  for (const spec::PlatformSpec::Profile& profile : profiles) followed.push_back(profile.link);
  check("profile", followed, false);
  check("change", changed, true);
}

/// Reads changes, profiles and background traffic, after the clusters. `before`: number of findings before the platform
/// was read.
void read_variation(const Node& node, spec::PlatformSpec& platform, std::size_t before, const ReadContext& context) {
  const std::optional<DeclaredHosts> hosts = declared_hosts(node, platform, before, context);
  const std::vector<const Element*> profiles = node.children("profile");
  if (std::holds_alternative<spec::PlatformFileSpec>(platform.what) && !profiles.empty()) {
    // SimGrid seals a file's links while it reads the file, so that they cannot change later.
    context.findings.add(profiles.front()->origin, "<profile> cannot be combined with a platform file of SimGrid",
                         "set bandwidth_file=\"…\" or latency_file=\"…\" on the link in that file");
  }
  for (spec::LinkChange& change : read_changes(node, context)) platform.changes.push_back(std::move(change));
  std::vector<spec::PlatformSpec::Profile> given = read_profiles(node, context);
  if (hosts) check_links(node, platform, given, before, context);
  for (spec::PlatformSpec::Profile& profile : given) platform.profiles.push_back(std::move(profile));
  for (spec::PlatformSpec::Background& flow : read_background(node, platform, hosts ? &*hosts : nullptr, context)) {
    platform.background.push_back(std::move(flow));
  }
}

/// Reads a <cluster-platform>.
spec::PlatformSpec read_cluster_platform(const std::string& content, const ReadContext& context) {
  const std::size_t before = context.findings.added();
  spec::PlatformSpec platform;
  const Element root = parse_xml(content, kClusterPlatformDocument, context.findings);
  if (root.name.empty()) return platform;
  if (root.in_namespace) {
    context.findings.add(root.origin, fmt::format("<{}> is in a namespace", printable(root.name)),
                         "remove xmlns: the language has no namespace");
    return platform;
  }
  const Node node(root, context.findings);
  platform.description = node.text("description", "");
  if (clusters_of(root).empty()) {
    node.fail("<cluster-platform> lacks a cluster", "add <gpu-cluster>, <federation> or <wan> inside");
  } else {
    read_clusters(node, platform, context);
  }
  read_variation(node, platform, before, context);
  check_against_schema(root, context.findings);
  return platform;
}

/// Returns the platform in the file of file="…"; nullopt, with a finding, if it cannot be read.
std::optional<spec::PlatformSpec> read_named_file(const Node& node, const ReadContext& context) {
  constexpr const char* kForm = "the path of a platform file";
  const std::optional<std::string> name = node.required_text("file", kForm);
  if (!name) return std::nullopt;
  const std::string path = beside(context.path, *name);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) {
    node.fail_at("file", "does not exist", fmt::format("looked for '{}'; the path is relative to the scenario", path));
    return std::nullopt;
  }
  if (error || !std::filesystem::is_regular_file(status)) {
    node.fail_at("file", "is not a file that can be read", kForm);
    return std::nullopt;
  }
  Findings findings(path);
  std::optional<spec::PlatformSpec> platform = read_platform_file({path, context.catalog, findings});
  context.findings.take(findings);
  return platform;
}

}  // namespace

std::string read_host_prefix(const Node& node, const char* attribute, const std::string& remedy) {
  const std::string name = node.required_text(attribute, remedy).value_or("");
  if (name.find_first_of(" \t\r\n[]") != std::string::npos) {
    node.fail_at(attribute, "holds white space or brackets", "remove them: lists of hosts use these characters");
    return {};
  }
  if (name.size() > kMaxClusterName) {
    node.fail_at(attribute, fmt::format("has {} bytes", name.size()), fmt::format("at most {}", kMaxClusterName));
    return {};
  }
  return name;
}

std::string read_cluster_name(const Node& node) {
  return node.has("name") ? read_host_prefix(node, "name", "use the prefix of the host names, or remove the attribute")
                          : "";
}

std::optional<spec::PlatformSpec> read_platform_file(const ReadContext& context) {
  constexpr std::size_t kBeginning = std::size_t{1} << 20U;  // largest number of bytes of a file before the end of its
                                                             // root element's start tag
  constexpr const char* kKinds =
      "use a platform file of SimGrid with <platform version=\"4.1\">, or a file with <cluster-platform>";
  const std::optional<std::string> beginning =
      read_beginning(context.path, kBeginning, kClusterPlatformDocument, context.findings);
  if (!beginning) return std::nullopt;
  const std::optional<RootElement> root = find_root_element(*beginning);
  if (!root) {
    const bool blank = beginning->find_first_not_of(kWhiteSpace) == std::string::npos;
    context.findings.add(Origin{"", blank ? 0 : 1}, blank ? "the file is empty" : "this is not XML", kKinds);
    return std::nullopt;
  }
  if (root->name == "platform") {
    spec::PlatformSpec platform;
    platform.what = spec::PlatformFileSpec{std::filesystem::absolute(context.path).lexically_normal().string(),
                                           spec::Transport::plain};
    return platform;
  }
  if (root->name != "cluster-platform") {
    context.findings.add(Origin{"", root->line}, fmt::format("the root element is <{}>", printable(root->name)),
                         kKinds);
    return std::nullopt;
  }
  const std::size_t before = context.findings.added();
  const std::optional<std::string> content = read_document(context.path, kClusterPlatformDocument, context.findings);
  if (!content) return std::nullopt;
  spec::PlatformSpec platform = read_cluster_platform(*content, context);
  if (context.findings.added() > before) return std::nullopt;
  return platform;
}

std::optional<spec::PlatformSpec> read_platform(const Element& element, const ReadContext& context) {
  const std::size_t before = context.findings.added();
  const Node node(element, context.findings);
  spec::PlatformSpec platform;
  if (node.has("file")) {
    for (const Element& child : element.children) {
      if (!is_cluster(child) && child.name != "pair") continue;
      context.findings.add(child.origin,
                           fmt::format("<{}> cannot be combined with file=\"…\" of <platform>", child.name),
                           "use either a file or clusters inside");
    }
    std::optional<spec::PlatformSpec> given = read_named_file(node, context);
    if (!given) {
      node.named("transport", spec::Transport::plain);
      return std::nullopt;
    }
    platform = std::move(*given);
    if (auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what)) {
      file->transport = node.named("transport", file->transport);
    } else {
      node.refuse("transport", "cannot be set on a <cluster-platform>", "remove it: its links define their transport");
    }
    platform.description = node.text("description", platform.description);
  } else {
    node.refuse("transport", "needs a platform file of SimGrid", "remove it: the links define their transport");
    platform.description = node.text("description", "");
    if (clusters_of(element).empty()) {
      node.fail("<platform> lacks 'file'",
                "add the path of a platform file, or <gpu-cluster>, <federation> or <wan> inside");
    } else {
      read_clusters(node, platform, context);
    }
  }
  read_variation(node, platform, before, context);
  if (context.findings.added() > before) return std::nullopt;
  return platform;
}

void write_platform(XmlWriter& xml, const spec::PlatformSpec& platform, const PathText& file) {
  XmlWriter::Open element(xml, "platform");
  if (!platform.description.empty()) element.set("description", platform.description);
  if (const auto* given = std::get_if<spec::PlatformFileSpec>(&platform.what)) {
    element.set("file", file(given->path)).set("transport", to_string(given->transport));
  } else if (const auto* cluster = std::get_if<spec::GpuClusterSpec>(&platform.what)) {
    write_cluster(xml, *cluster);
  } else if (const auto* federation = std::get_if<spec::FederationSpec>(&platform.what)) {
    write_cluster(xml, *federation);
  } else if (const auto* wan = std::get_if<spec::WanSpec>(&platform.what)) {
    write_wan(xml, *wan);
  } else {
    const auto& composition = std::get<spec::CompositionSpec>(platform.what);
    for (const auto& part : composition.clusters) {
      std::visit([&](const auto& one) { write_cluster(xml, one); }, part);
    }
    write_pairs(xml, composition.pairs);
  }
  write_variation(xml, platform);
}

std::vector<ElementRule> platform_rules() {
  return {element("platform",
                  "Hosts, links and routes: a file, a gpu-cluster, a federation, a wan, or several gpu-clusters and "
                  "federations with a pair between each two.",
                  {attribute("file", text()), attribute("transport", one_of<spec::Transport>()),
                   attribute("description", any_text())})
              .holds(kPlatformParts),
          element("cluster-platform",
                  "The root of a platform file, with the same elements as a platform inside a scenario.",
                  {attribute("description", any_text())})
              .holds(kPlatformParts)};
}

}  // namespace dadsim::scenario
