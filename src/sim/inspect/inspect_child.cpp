#include "sim/inspect/inspect_child.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>

#include "sim/network/fluid.hpp"
#include "sim/platform/platform_child.hpp"
#include "sim/process/simgrid_output.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {
namespace {

// Largest number of missing routes that are searched for. SimGrid ends the process at some of them, and another process
// must start.
constexpr std::size_t kMissingLookedFor = 20;

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
  return transport_of(link, fallback) == to_string(spec::Transport::tcp) ? kTcpEfficiency : 1;
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
  sorted.reserve(classes.size());
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

/// Returns the sum of rates if all `pairs` transfer at once, byte/s.
double rate_at_once(const std::vector<std::pair<const std::string*, const std::string*>>& pairs) {
  Fluid fluid;
  std::map<const sg4::Link*, std::int32_t> index;
  for (const auto& [from, to] : pairs) {
    std::vector<sg4::Link*> links;
    host(*from)->route_to(host(*to), links, static_cast<double*>(nullptr));
    std::vector<std::int32_t> shared;
    double most = std::numeric_limits<double>::infinity();  // limit of the pair's rate, byte/s
    for (const sg4::Link* link : links) {
      if (!link->is_shared()) {  // a fat pipe gives every flow its whole bandwidth
        most = std::min(most, link->get_bandwidth());
        continue;
      }
      const auto [place, added] = index.try_emplace(link, static_cast<std::int32_t>(index.size()));
      if (added) fluid.set_capacity(place->second, link->get_bandwidth());
      if (std::ranges::count(shared, place->second) == 0) shared.push_back(place->second);
    }
    fluid.begin(fluid.add(shared, most), 1, 0);
  }
  fluid.share(0);
  double sum = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) sum += fluid.rate(static_cast<std::int32_t>(i));
  return sum;
}

}  // namespace

std::vector<HostOf> look_at_parts(const spec::PlatformSpec& platform, PlatformReport& report) {
  enum class Topic : std::uint8_t { host, link };
  const std::vector<std::string> declared = host_names(platform);
  const auto look = [&](const MessageSink& sink) {
    const sg4::Engine& engine = load_to_look(platform);
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
  look_in_child(look, listen);
  return hosts;
}

std::vector<RouteFigures> look_at_routes(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                                         const std::vector<HostWay>& ways, bool with_names) {
  std::vector<RouteFigures> figures;
  std::size_t failures = 0;
  std::optional<std::size_t> failed_at;
  while (figures.size() < ways.size()) {
    const auto look = [&](const MessageSink& sink) {
      load_to_look(platform);
      for (std::size_t i = figures.size(); i < ways.size(); ++i) {
        const PlatformReport::Route found =
            route(hosts[ways[i].first].name, hosts[ways[i].second].name, fallback_transport(platform), with_names);
        WireWriter message;
        message << found.bandwidth << found.payload_rate << found.latency
                << static_cast<std::int64_t>(found.links.size());
        for (const std::string& link : found.links)
          message << std::string_view(link) << sg4::Link::by_name(link)->get_bandwidth();
        sink.send(message.bytes());
      }
    };
    const auto listen = [&](std::string_view bytes) {
      WireReader message(bytes);
      RouteFigures found;
      std::int64_t links = 0;
      message >> found.bandwidth >> found.payload_rate >> found.latency >> links;
      found.links.resize(static_cast<std::size_t>(links));
      found.widths.resize(found.links.size());
      for (std::size_t i = 0; i < found.links.size(); ++i) message >> found.links[i] >> found.widths[i];
      figures.push_back(std::move(found));
    };
    const ChildOutcome outcome = run_in_child(look, listen, kLookTimeLimit);
    if (outcome.complete()) break;
    if (failed_at == figures.size()) throw_if_crashed(outcome);
    // Retries once: a resource that the system denied for a moment (memory, a pipe) is no missing route.
    if (failed_at != figures.size() && outcome.end != ChildOutcome::ChildEnd::timed_out) {
      failed_at = figures.size();
      continue;
    }
    if (++failures > kMissingLookedFor || outcome.end == ChildOutcome::ChildEnd::timed_out) {
      figures.resize(ways.size());  // counts the remaining routes as missing too
      break;
    }
    figures.emplace_back();
  }
  return figures;
}

void look_closer(const spec::PlatformSpec& platform, const std::vector<HostOf>& hosts,
                 const std::vector<HostWay>& across, PlatformReport& report) {
  enum class Topic : std::uint8_t { best, worst, bisection };
  const auto look = [&](const MessageSink& sink) {
    load_to_look(platform);
    for (const auto& [topic, known] : {std::pair{Topic::best, &report.best}, std::pair{Topic::worst, &report.worst}}) {
      if (!known->has_value()) continue;
      for (const std::string& name : route((*known)->from, (*known)->to, fallback_transport(platform), true).links) {
        WireWriter message;
        message << static_cast<std::uint8_t>(topic) << std::string_view(name);
        sink.send(message.bytes());
      }
    }
    std::vector<std::pair<const std::string*, const std::string*>> pairs;
    pairs.reserve(across.size());
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
  // Retries once after a failure, as above.
  for (int tries = 1; tries <= 2; ++tries) {
    for (auto* known : {&report.best, &report.worst}) {
      if (known->has_value()) (*known)->links.clear();
    }
    const ChildOutcome outcome = run_in_child(look, listen, kLookTimeLimit);
    if (outcome.complete() || outcome.end == ChildOutcome::ChildEnd::timed_out) return;
    if (tries == 2) throw_if_crashed(outcome);
  }
}

}  // namespace dadsim::sim
