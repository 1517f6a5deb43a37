#include "sim/platform/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "sim/child_process.hpp"
#include "sim/network/max_min.hpp"
#include "sim/platform/compat.hpp"
#include "sim/platform/engine.hpp"
#include "sim/platform/links/efficiency.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {
namespace {

namespace sg4 = simgrid::s4u;

constexpr double kTimeLimit = 120;           // seconds
constexpr std::size_t kHostsAllPairs = 256;  // as documented in the header
constexpr std::size_t kMissingLookedFor =
    20;  // SimGrid ends the process for some of them, and another one has to start

// --- In the child process
// ---------------------------------------------------------------------------------------------

/// The child ends without taking the engine down again: that is not needed, and could fail.
const sg4::Engine& load(const spec::PlatformSpec& platform) { return *load_engine(platform).release(); }

spec::Transport fallback_transport(const spec::PlatformSpec& platform) {
  const auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
  return file == nullptr ? spec::Transport::plain : file->transport;
}

std::string transport_of(const sg4::Link& link, spec::Transport fallback) {
  const char* text = link.get_property("transport");
  return text == nullptr ? to_string(fallback) : text;
}

double efficiency_of(const sg4::Link& link, spec::Transport fallback) {
  if (const char* text = link.get_property("efficiency")) return std::strtod(text, nullptr);
  return transport_of(link, fallback) == to_string(spec::Transport::tcp) ? efficiency::kTcp : 1;
}

std::string class_of(const sg4::Link& link) {
  const char* text = link.get_property("class");
  return text == nullptr ? "" : text;
}

bool is_loopback(const sg4::Link& link) { return class_of(link) == "loopback" || link.get_name() == "__loopback__"; }

std::vector<PlatformReport::LinkClass> link_classes(const sg4::Engine& engine, spec::Transport fallback) {
  std::vector<PlatformReport::LinkClass> classes;
  std::map<std::tuple<std::string, double, double, std::string, double>, std::size_t> index;
  for (const sg4::Link* link : engine.get_all_links()) {
    if (is_loopback(*link)) continue;
    PlatformReport::LinkClass found{class_of(*link),
                                    0,
                                    link->get_bandwidth(),
                                    link->get_latency(),
                                    transport_of(*link, fallback),
                                    efficiency_of(*link, fallback)};
    const auto key = std::make_tuple(found.name, -found.bandwidth, found.latency, found.transport, found.efficiency);
    const auto [place, added] = index.try_emplace(key, classes.size());
    if (added) classes.push_back(std::move(found));
    ++classes[place->second].count;
  }
  std::vector<PlatformReport::LinkClass> sorted;
  for (const auto& [key, place] : index) sorted.push_back(classes[place]);
  return sorted;
}

sg4::Host* host(const std::string& name) { return sg4::Engine::get_instance()->host_by_name(name); }

PlatformReport::Route route(const std::string& from, const std::string& to, spec::Transport fallback, bool with_names) {
  PlatformReport::Route found;
  std::vector<sg4::Link*> links;
  host(from)->route_to(host(to), links, &found.latency);
  found.bandwidth = std::numeric_limits<double>::infinity();
  found.payload_rate = found.bandwidth;
  for (const sg4::Link* link : links) {
    const double bandwidth = link->get_bandwidth();
    found.bandwidth = std::min(found.bandwidth, bandwidth);
    found.payload_rate = std::min(found.payload_rate, bandwidth * efficiency_of(*link, fallback));
    if (with_names) found.links.push_back(link->get_name());
  }
  if (links.empty()) found.bandwidth = found.payload_rate = 0;
  return found;
}

/// Sum of the rates of all `pairs` at once, byte/s.
double rate_at_once(const std::vector<std::pair<const std::string*, const std::string*>>& pairs) {
  std::vector<double> capacity;
  std::map<const sg4::Link*, std::int32_t> index;
  std::vector<std::vector<std::int32_t>> flows;
  for (const auto& [from, to] : pairs) {
    std::vector<sg4::Link*> links;
    host(*from)->route_to(host(*to), links, static_cast<double*>(nullptr));
    std::vector<std::int32_t>& flow = flows.emplace_back();
    for (const sg4::Link* link : links) {
      const auto next = static_cast<std::int32_t>(capacity.size());
      if (link->is_shared()) {
        const auto [place, added] = index.try_emplace(link, next);
        if (added) capacity.push_back(link->get_bandwidth());
        if (std::ranges::count(flow, place->second) == 0) flow.push_back(place->second);
      } else {  // a fat pipe gives every flow its whole bandwidth
        capacity.push_back(link->get_bandwidth());
        flow.push_back(next);
      }
    }
  }
  std::vector<const std::vector<std::int32_t>*> links_of;
  for (const auto& flow : flows) links_of.push_back(&flow);
  const std::vector<double> rates = max_min_rates(capacity, links_of);
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

// --- In this process
// --------------------------------------------------------------------------------------------------

const char* kind_of(const spec::PlatformSpec& platform) {
  constexpr std::array kNames{"file", "gpu-cluster", "federation", "wan", "composition"};
  static_assert(std::variant_size_v<decltype(spec::PlatformSpec::what)> == kNames.size());
  return kNames[platform.what.index()];
}

struct HostOf {
  std::string name, node;
};

/// What does not need routes.
std::vector<HostOf> look_at_parts(const spec::PlatformSpec& platform, PlatformReport& report) {
  enum class Topic : std::uint8_t { host, link };
  const std::vector<std::string> declared = host_names(platform);
  const auto look = [&](const MessageSink& sink) {
    const sg4::Engine& engine = load(platform);
    std::vector<std::string> all_names = declared;
    if (all_names.empty()) {
      for (const sg4::Host* one : engine.get_all_hosts()) all_names.push_back(one->get_name());
    }
    for (const std::string& name : all_names) {
      const char* node = host(name)->get_property("node");
      WireWriter message;
      message << static_cast<std::uint8_t>(Topic::host) << std::string_view(name)
              << std::string_view(node == nullptr ? name : node);
      sink.send(message.bytes());
    }
    for (const PlatformReport::LinkClass& one : link_classes(engine, fallback_transport(platform))) {
      WireWriter message;
      message << static_cast<std::uint8_t>(Topic::link) << std::string_view(one.name) << one.count << one.bandwidth
              << one.latency << std::string_view(one.transport) << one.efficiency;
      sink.send(message.bytes());
    }
  };
  std::vector<HostOf> hosts;
  const auto listen = [&](std::string_view bytes) {
    WireReader message(bytes);
    std::uint8_t topic = 0;
    message >> topic;
    if (static_cast<Topic>(topic) == Topic::host) {
      HostOf one;
      message >> one.name >> one.node;
      hosts.push_back(std::move(one));
      return;
    }
    PlatformReport::LinkClass one;
    message >> one.name >> one.count >> one.bandwidth >> one.latency >> one.transport >> one.efficiency;
    report.links.push_back(std::move(one));
  };
  const ChildOutcome outcome = run_in_child(look, listen, kTimeLimit);
  if (!outcome.complete()) {
    const std::string words = simgrid_words(outcome.output);
    throw std::runtime_error(words.empty() ? fmt::format("SimGrid {} while it built the platform", outcome.words())
                                           : words);
  }
  return hosts;
}

using Way = std::pair<std::size_t, std::size_t>;

/// The pairs of hosts that are looked at.
std::vector<Way> ways_to_look_at(std::size_t hosts) {
  std::vector<Way> ways;
  if (hosts <= kHostsAllPairs) {
    for (std::size_t from = 0; from < hosts; ++from) {
      for (std::size_t to = 0; to < hosts; ++to) {
        if (from != to) ways.emplace_back(from, to);
      }
    }
    return ways;
  }
  for (std::size_t i = 0; i < kHostsAllPairs; ++i) {
    const std::size_t from = i * hosts / kHostsAllPairs;
    for (std::size_t further = 1; further < hosts; further *= 2) ways.emplace_back(from, (from + further) % hosts);
  }
  return ways;
}

struct RouteFigures {
  double bandwidth = 0, payload_rate = 0, latency = 0;  ///< all 0: no route
  std::vector<std::string> links{};                     ///< where they were asked for
};

/// For each of `ways`. Where SimGrid ends the child over a route that is missing, another one goes on behind it.
std::vector<RouteFigures> look_at_routes(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                                         const std::vector<Way>& ways, bool with_names) {
  std::vector<RouteFigures> figures;
  std::size_t failures = 0;
  while (figures.size() < ways.size()) {
    const auto look = [&](const MessageSink& sink) {
      load(platform);
      for (std::size_t i = figures.size(); i < ways.size(); ++i) {
        const PlatformReport::Route found =
            route(hosts[ways[i].first].name, hosts[ways[i].second].name, fallback_transport(platform), with_names);
        WireWriter message;
        message << found.bandwidth << found.payload_rate << found.latency
                << static_cast<std::int64_t>(found.links.size());
        for (const std::string& link : found.links) message << std::string_view(link);
        sink.send(message.bytes());
      }
    };
    const auto listen = [&](std::string_view bytes) {
      WireReader message(bytes);
      RouteFigures found;
      std::int64_t links = 0;
      message >> found.bandwidth >> found.payload_rate >> found.latency >> links;
      found.links.resize(static_cast<std::size_t>(links));
      for (std::string& link : found.links) message >> link;
      figures.push_back(std::move(found));
    };
    const ChildOutcome outcome = run_in_child(look, listen, kTimeLimit);
    if (outcome.complete()) break;
    if (++failures > kMissingLookedFor || outcome.end == ChildOutcome::End::timed_out) {
      figures.resize(ways.size());  // the rest is taken as missing too
      break;
    }
    figures.emplace_back();
  }
  return figures;
}

/// Names of the links of the best and the worst route, and the bisection.
void look_closer(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                 const std::vector<std::pair<std::size_t, std::size_t>>& across, PlatformReport& report) {
  enum class Topic : std::uint8_t { best, worst, bisection };
  const auto look = [&](const MessageSink& sink) {
    load(platform);
    for (const auto& [topic, known] : {std::pair{Topic::best, &report.best}, std::pair{Topic::worst, &report.worst}}) {
      if (!known->has_value()) continue;
      for (const std::string& name : route((*known)->from, (*known)->to, fallback_transport(platform), true).links) {
        WireWriter message;
        message << static_cast<std::uint8_t>(topic) << std::string_view(name);
        sink.send(message.bytes());
      }
    }
    std::vector<std::pair<const std::string*, const std::string*>> pairs;
    for (const auto& [from, to] : across) pairs.emplace_back(&hosts[from].name, &hosts[to].name);
    WireWriter message;
    message << static_cast<std::uint8_t>(Topic::bisection) << rate_at_once(pairs);
    sink.send(message.bytes());
  };
  const auto listen = [&](std::string_view bytes) {
    WireReader message(bytes);
    std::uint8_t topic = 0;
    message >> topic;
    if (static_cast<Topic>(topic) == Topic::bisection) {
      double rate = 0;
      message >> rate;
      report.bisection = rate;
      return;
    }
    std::string name;
    message >> name;
    (static_cast<Topic>(topic) == Topic::best ? report.best : report.worst)->links.push_back(std::move(name));
  };
  run_in_child(look, listen, kTimeLimit);
}

/// Per host, the links over which every route begins or ends there.
std::vector<std::vector<std::string>> own_links(std::size_t hosts, const std::vector<Way>& ways,
                                                const std::vector<RouteFigures>& figures) {
  std::map<std::string, std::vector<std::size_t>> owners;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    for (const std::string& link : figures[i].links) {
      const auto [place, added] = owners.try_emplace(link, std::vector<std::size_t>{ways[i].first, ways[i].second});
      if (added) continue;
      std::erase_if(place->second, [&](std::size_t one) { return one != ways[i].first && one != ways[i].second; });
    }
  }
  std::vector<std::vector<std::string>> own(hosts);
  for (const auto& [link, of] : owners) {
    for (const std::size_t one : of) own[one].push_back(link);
  }
  return own;
}

/// The hosts of a file around a network, each with the bandwidth of its widest route out and in.
Picture picture_of_file(const std::vector<HostOf>& hosts, const std::vector<Way>& ways,
                        const std::vector<RouteFigures>& figures) {
  Picture picture;
  if (hosts.size() > kDrawnOneByOne) {
    picture.boxes.push_back({"hosts", fmt::format("{} hosts", hosts.size()), Picture::Kind::node, ""});
    return picture;
  }
  std::vector<double> out(hosts.size(), 0);
  std::vector<double> in(hosts.size(), 0);
  for (std::size_t i = 0; i < ways.size(); ++i) {
    out[ways[i].first] = std::max(out[ways[i].first], figures[i].bandwidth);
    in[ways[i].second] = std::max(in[ways[i].second], figures[i].bandwidth);
  }
  const std::vector<std::vector<std::string>> own = own_links(hosts.size(), ways, figures);
  const std::string network = "the network";
  picture.boxes.push_back({network, network, Picture::Kind::network, ""});
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    picture.boxes.push_back({hosts[i].name, hosts[i].name, Picture::Kind::host,
                             hosts[i].node == hosts[i].name ? std::string{} : hosts[i].node});
    picture.edges.push_back(
        {hosts[i].name, network, fmt::format("up {}, down {}", rate_in_words(out[i]), rate_in_words(in[i])), own[i]});
  }
  return picture;
}

/// Between the quotes of Graphviz.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string style_of(Picture::Kind kind) {
  switch (kind) {
    case Picture::Kind::host:
      return "shape=box, style=\"rounded,filled\", fillcolor=\"#e8f0fe\"";
    case Picture::Kind::node:
      return "shape=box, style=filled, fillcolor=\"#e6f4ea\"";
    case Picture::Kind::network:
      return "shape=ellipse, style=filled, fillcolor=\"#f1f3f4\"";
  }
  return {};
}

/// Busy edges differ by lightness alone, so that no colour has to be told from another.
std::string style_of(const Picture::Edge& edge, const std::map<std::string, double>& busy_shares) {
  std::optional<double> busiest;
  for (const std::string& link : edge.links) {
    const auto found = busy_shares.find(link);
    if (found != busy_shares.end()) busiest = std::max(busiest.value_or(0), found->second);
  }
  if (!busiest) {
    const std::string style = "color=\"#c4c8cd\", penwidth=1";
    return edge.label.empty() ? style : fmt::format("label={}, {}", quoted(edge.label), style);
  }
  constexpr std::array kIdle{0xa9, 0xbf, 0xd6};  // red, green, blue
  constexpr std::array kBusy{0x06, 0x2a, 0x5e};
  const double share = std::clamp(*busiest, 0.0, 1.0);
  const auto mixed = [&](std::size_t i) {
    return static_cast<int>(std::lround(kIdle.at(i) + share * (kBusy.at(i) - kIdle.at(i))));
  };
  const std::string words =
      *busiest > 0 && *busiest < 0.005 ? std::string("busy under 1 %") : fmt::format("busy {:.0f} %", 100 * *busiest);
  const std::string label = edge.label.empty() ? words : edge.label + "\n" + words;
  return fmt::format("label={}, tooltip={}, color=\"#{:02x}{:02x}{:02x}\", penwidth={:.1f}", quoted(label),
                     quoted(fmt::format("{} -- {}: {}", edge.from, edge.to, words)), mixed(0), mixed(1), mixed(2),
                     1 + 5 * share);
}

}  // namespace

PlatformReport inspect_platform(const spec::PlatformSpec& platform) {
  PlatformReport report;
  report.kind = kind_of(platform);
  report.description = platform.description;
  const std::vector<HostOf> hosts = look_at_parts(platform, report);
  report.hosts = static_cast<std::int64_t>(hosts.size());
  std::vector<std::string> nodes;
  for (const HostOf& one : hosts) nodes.push_back(one.node);
  std::ranges::sort(nodes);
  report.nodes = std::unique(nodes.begin(), nodes.end()) - nodes.begin();

  const std::vector<Way> ways = ways_to_look_at(hosts.size());
  const bool is_file = std::holds_alternative<spec::PlatformFileSpec>(platform.what);
  const bool drawn_as_file = is_file && hosts.size() <= kDrawnOneByOne;
  const std::vector<RouteFigures> figures = look_at_routes(platform, hosts, ways, drawn_as_file);
  report.routes = static_cast<std::int64_t>(ways.size());
  report.all_routes = hosts.size() <= kHostsAllPairs;
  const auto better = [&](const RouteFigures& a, const RouteFigures& b) {
    return std::pair{a.bandwidth, -a.latency} > std::pair{b.bandwidth, -b.latency};
  };
  std::optional<std::size_t> best, worst;
  std::vector<bool> joined(hosts.size(), true);  // to the host half of all hosts further on
  const std::size_t half = hosts.size() / 2;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!(figures[i].bandwidth > 0)) {
      ++report.routes_missing;
      if (ways[i].second == ways[i].first + half) joined[ways[i].first] = false;
      continue;
    }
    if (!best || better(figures[i], figures[*best])) best = i;
    if (!worst || better(figures[*worst], figures[i])) worst = i;
  }
  const auto described = [&](std::size_t i) {
    return PlatformReport::Route{hosts[ways[i].first].name, hosts[ways[i].second].name, {},
                                 figures[i].bandwidth,      figures[i].payload_rate,    figures[i].latency};
  };
  if (best) report.best = described(*best);
  if (worst) report.worst = described(*worst);

  std::vector<Way> across;
  for (std::size_t i = 0; i < half; ++i) {
    if (joined[i]) across.emplace_back(i, i + half);
  }
  report.bisection_pairs = static_cast<std::int64_t>(across.size());
  if (!across.empty()) look_closer(platform, hosts, across, report);

  report.picture = is_file ? picture_of_file(hosts, ways, figures) : draw(platform);
  return report;
}

std::string to_dot(const PlatformReport& report, const std::map<std::string, double>& busy_shares) {
  const std::string title =
      report.description.empty() ? fmt::format("{}, {} hosts", report.kind, report.hosts) : report.description;
  std::string dot = fmt::format(
      "graph platform {{\n  graph [label={}, labelloc=t, fontname=\"Helvetica\", overlap=false];\n"
      "  node [fontname=\"Helvetica\", fontsize=10];\n  edge [fontname=\"Helvetica\", fontsize=8];\n",
      quoted(title));
  std::vector<std::string> frames;
  for (const Picture::Box& box : report.picture.boxes) {
    if (std::ranges::count(frames, box.frame) == 0) frames.push_back(box.frame);
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    // Graphviz draws a frame around what is in a subgraph whose name begins with "cluster".
    if (!frames[i].empty()) dot += fmt::format("  subgraph cluster_{} {{\n    label={};\n", i, quoted(frames[i]));
    for (const Picture::Box& box : report.picture.boxes) {
      if (box.frame != frames[i]) continue;
      dot += fmt::format("  {}{} [label={}, {}];\n", frames[i].empty() ? "" : "  ", quoted(box.id), quoted(box.label),
                         style_of(box.kind));
    }
    if (!frames[i].empty()) dot += "  }\n";
  }
  for (const Picture::Edge& edge : report.picture.edges) {
    dot += fmt::format("  {} -- {}", quoted(edge.from), quoted(edge.to));
    if (!busy_shares.empty()) {
      dot += fmt::format(" [{}];\n", style_of(edge, busy_shares));
    } else {
      dot += edge.label.empty() ? ";\n" : fmt::format(" [label={}];\n", quoted(edge.label));
    }
  }
  return dot + "}\n";
}

}  // namespace dadsim::sim
