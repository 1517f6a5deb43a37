#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <variant>

#include "sim/platform.hpp"
#include "sim/platform/build_platform.hpp"
#include "sim/platform/engine.hpp"
#include "sim/platform/event_rates.hpp"
#include "sim/platform/platform_text.hpp"
#include "sim/platform/profiles.hpp"
#include "sim/platform/properties_of_link.hpp"
#include "sim/platform/state_profiles.hpp"
#include "sim/process/child_process.hpp"
#include "sim/process/compat.hpp"
#include "sim/process/simgrid_output.hpp"
#include "support/environment_error.hpp"
#include "support/parse_whole.hpp"
#include "support/terminal.hpp"
#include "support/wire.hpp"

namespace dadsim::sim {
namespace {

constexpr double kCheckTimeLimit = 60;          // time limit of a check, seconds
constexpr std::size_t kRouteErrorsListed = 10;  // largest number of route errors that are listed; others are counted
constexpr std::size_t kFaultsLookedFor = 200;

enum class CheckTopic : std::uint8_t { loaded, parse_error, host_error, host_ready, route_error, end };

void tell(const MessageSink& sink, CheckTopic topic, std::uint64_t index, std::string_view what = {},
          std::string_view remedy = {}) {
  WireWriter message;
  message << static_cast<std::uint8_t>(topic) << index << what << remedy;
  sink.send(message.bytes());
}

struct CheckMessage {
  CheckTopic topic = CheckTopic::end;
  std::uint64_t index = 0;
  std::string what, remedy;
};

CheckMessage understand(std::string_view bytes) {
  WireReader message(bytes);
  std::uint8_t topic = 0;
  CheckMessage reported;
  message >> topic >> reported.index >> reported.what >> reported.remedy;
  reported.topic = static_cast<CheckTopic>(topic);
  return reported;
}

/// Returns a fault of SimGrid's names, which keep the line breaks of a file that XML treats as blanks.
std::string name_fault(const sg4::Engine& engine) {
  const auto fault = [](const char* what, const std::string& name) {
    return fmt::format("the name of {} '{}' has invisible characters", what,
                       with_hidden_characters_shown(std::string_view(name).substr(0, 200)));
  };
  for (const sg4::Host* host : engine.get_all_hosts()) {
    if (has_hidden_characters(host->get_name())) return fault("host", host->get_name());
  }
  for (const sg4::Link* link : engine.get_all_links()) {
    if (has_hidden_characters(link->get_name())) return fault("link", link->get_name());
  }
  return {};
}

/// Properties of a platform's hosts that the checks need.
struct KnownHosts {
  struct Host {
    int cores = 1;
    double speed = 0;
  };
  std::function<std::optional<Host>(const std::string& name)> find;
  std::function<std::vector<std::string>()> names;
};

KnownHosts hosts_of(const sg4::Engine& engine) {
  return {.find = [&engine](const std::string& name) -> std::optional<KnownHosts::Host> {
            const sg4::Host* host = engine.host_by_name_or_null(name);
            if (host == nullptr) return std::nullopt;
            return KnownHosts::Host{host->get_core_count(), host->get_speed()};
          },
          .names =
              [&engine] {
                std::vector<std::string> names;
                for (const sg4::Host* one : engine.get_all_hosts()) names.push_back(one->get_name());
                return names;
              }};
}

/// Returns the hosts of a declared platform. They have one core each; their speed is not used.
KnownHosts hosts_called(const std::unordered_set<std::string_view>& names) {
  return {.find = [&names](const std::string& name) -> std::optional<KnownHosts::Host> {
            if (!names.contains(name)) return std::nullopt;
            return KnownHosts::Host{1, 1};
          },
          .names = [&names] { return std::vector<std::string>(names.begin(), names.end()); }};
}

/// Returns the remedy, by the kind of the platform, for `workers` workers on a host with too few cores.
std::string place_for(const spec::PlatformSpec& platform, int workers) {
  if (std::holds_alternative<spec::PlatformFileSpec>(platform.what))
    return fmt::format("set core=\"{}\" in the platform or use other hosts", workers);
  const auto* cluster = std::get_if<spec::GpuClusterSpec>(&platform.what);
  return cluster == nullptr
             ? std::string("use one host per worker")
             : fmt::format("use one host per worker; nodes=\"{}\" of <gpu-cluster> adds a node", cluster->nodes + 1);
}

/// Reports faults of the hosts. A host with too many workers is reported once.
void check_hosts(const KnownHosts& known, const spec::PlatformSpec& platform, const std::vector<std::string>& hosts,
                 const MessageSink& sink) {
  std::unordered_map<std::string_view, int> placed;
  for (const std::string& name : hosts) ++placed[name];
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::optional<KnownHosts::Host> host = known.find(hosts[i]);
    if (!host) {
      tell(sink, CheckTopic::host_error, i, fmt::format("the platform has no host '{}'", hosts[i]),
           which_host(hosts[i], known.names()));
      continue;
    }
    const int cores = host->cores;
    int& workers = placed[hosts[i]];
    if (workers > cores) {
      tell(sink, CheckTopic::host_error, i,
           fmt::format("host '{}' has {} core{} and {} workers", hosts[i], cores, cores == 1 ? "" : "s", workers),
           place_for(platform, workers));
      workers = 0;
    } else if (!(host->speed > 0)) {
      tell(sink, CheckTopic::host_error, i, fmt::format("host '{}' has a speed of 0", hosts[i]),
           "use any speed above 0; the device of the worker sets its speed");
    }
  }
}

/// Checks a declared platform by its description alone, without building it. Returns false if the platform must be
/// built. Throws what building it would throw.
bool passes_as_described(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts,
                         const MessageSink& sink) {
  check_declared(platform);
  const std::vector<std::string> declared = host_names(platform);
  const std::unordered_set<std::string_view> names(declared.begin(), declared.end());
  if (names.size() < declared.size() || std::ranges::any_of(declared, has_hidden_characters)) return false;
  tell(sink, CheckTopic::loaded, 0);
  check_hosts(hosts_called(names), platform, hosts, sink);
  return true;
}

/// Returns why no message can go from `from` to `to`; both texts are empty if one can. SimGrid may end the process
/// instead of returning.
std::pair<std::string, std::string> route_fault(const sg4::Host& from, const sg4::Host& to) {
  std::vector<sg4::Link*> links;
  double latency = 0;
  from.route_to(&to, links, &latency);
  if (links.empty() && latency > 0) {
    return {fmt::format("the route from '{}' to '{}' has a latency but no link", from.get_cname(), to.get_cname()),
            "use a <route> with at least one link, or a <peer> with bw_in and bw_out in place of a <host> with "
            "coordinates"};
  }
  if (links.empty()) {
    return {fmt::format("there is no route from '{}' to '{}'", from.get_cname(), to.get_cname()),
            "add a <route> with at least one link to the platform"};
  }
  for (const sg4::Link* link : links) {
    if (link->get_sharing_policy() == sg4::Link::SharingPolicy::WIFI) {
      return {fmt::format("the route from '{}' to '{}' uses the Wi-Fi link '{}', which is not supported",
                          from.get_cname(), to.get_cname(), link->get_cname()),
              "use a wired link of the same rate"};
    }
    if (!(link->get_bandwidth() > 0)) {
      return {fmt::format("link '{}' from '{}' to '{}' has a bandwidth of {} byte/s", link->get_cname(),
                          from.get_cname(), to.get_cname(), link->get_bandwidth()),
              "use a bandwidth above 0"};
    }
    if (!(link->get_latency() >= 0)) {
      return {fmt::format("link '{}' from '{}' to '{}' has a latency of {} s", link->get_cname(), from.get_cname(),
                          to.get_cname(), link->get_latency()),
              "use a latency of at least 0"};
    }
  }
  return {};
}

using Way = std::pair<const sg4::Host*, const sg4::Host*>;

/// Checks `ways` in a child of this process. If SimGrid ends that child, the present way is at fault, and another child
/// continues.
void check_routes(const std::vector<Way>& ways, const MessageSink& sink) {
  std::size_t faults = 0;
  for (std::size_t next = 0; next < ways.size();) {
    std::size_t reached = next;
    const auto look = [&](const MessageSink& own) {
      for (std::size_t i = next; i < ways.size(); ++i) {
        tell(own, CheckTopic::host_ready, i);
        const auto [what, remedy] = route_fault(*ways[i].first, *ways[i].second);
        if (!what.empty()) tell(own, CheckTopic::route_error, i, what, remedy);
      }
    };
    const auto listen = [&](std::string_view bytes) {
      const CheckMessage reported = understand(bytes);
      reached = reported.index;
      if (reported.topic == CheckTopic::route_error && ++faults <= kRouteErrorsListed) {
        tell(sink, CheckTopic::route_error, reported.index, reported.what, reported.remedy);
      }
    };
    const ChildOutcome outcome = run_in_child(look, listen);
    if (outcome.complete()) break;
    if (++faults <= kRouteErrorsListed) {
      // Omits the words of a crash: zones that search for a route follow a null pointer if a host has no link.
      const std::string words = outcome.crashed() ? std::string() : failure_of(outcome, {});
      tell(sink, CheckTopic::route_error, reached,
           fmt::format("there is no route from '{}' to '{}'{}", ways[reached].first->get_cname(),
                       ways[reached].second->get_cname(), words.empty() ? std::string{} : fmt::format(" ({})", words)),
           "add a <route> to the platform");
    }
    if (faults > kFaultsLookedFor) break;  // stops, because a platform without routing has the same error everywhere
    next = reached + 1;
  }
  if (faults > kRouteErrorsListed) {
    tell(sink, CheckTopic::route_error, 0,
         fmt::format("{} {} directions between workers have no route",
                     faults > kFaultsLookedFor ? "more than" : "altogether", std::min(faults, kFaultsLookedFor)),
         "add the missing routes to the platform");
  }
}

/// Returns the text as one line of limited length, since SimGrid lists every known host if one is missing.
std::string one_line(const std::string& text) {
  constexpr std::size_t kMost = 400;
  std::string line;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) line += c;
    if (blank && !line.empty() && line.back() != ' ') line += ' ';
  }
  if (line.size() > kMost) {
    line.resize(kMost);
    while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xC0U) == 0x80U) line.pop_back();
    line += " …";
  }
  return line;
}

/// Splits SimGrid's "Parse error at file:line: words" into its parts.
Diagnostic parse_error(const std::string& file, const std::string& text) {
  Diagnostic diagnostic{file, 0, text, ""};
  // Finds the end of the path, which may contain colons, by the first colon, digits and colon.
  for (std::size_t colon = text.find(':'); colon != std::string::npos; colon = text.find(':', colon + 1)) {
    const std::size_t end = text.find_first_not_of("0123456789", colon + 1);
    if (end == std::string::npos || end == colon + 1 || text[end] != ':') continue;
    diagnostic.line = parse_whole<int>(std::string_view(text).substr(colon + 1, end - colon - 1)).value_or(0);
    const std::size_t words = text.find_first_not_of(" \t\n\v\f\r", end + 1);
    diagnostic.what = words == std::string::npos ? std::string() : text.substr(words);
    break;
  }
  diagnostic.what = one_line(diagnostic.what);
  if (diagnostic.what.empty()) diagnostic.what = "SimGrid cannot read this platform";
  diagnostic.remedy = "see SimGrid's platform reference (DTD version 4.1)";
  return diagnostic;
}

}  // namespace

std::string which_host(const std::string& name, std::vector<std::string> known) {
  constexpr std::size_t kListed = 20;
  std::ranges::sort(known);
  if (known.empty()) return "the platform has no hosts";
  std::string text =
      closest(name, known).empty() && known.size() > kListed
          ? fmt::format("the platform has {} hosts, from {} to {}", known.size(), known.front(), known.back())
          : suggestion(name, known);
  // Mentions quotation marks, without which the words of a name would be separate names.
  const auto has_blank = [](const std::string& host) { return host.find(' ') != std::string::npos; };
  if (const auto one = std::ranges::find_if(known, has_blank); one != known.end()) {
    const std::string near = closest(name, known);
    text += fmt::format(" (put a name with blanks in quotation marks: \"'{}'\")", has_blank(near) ? near : *one);
  }
  return text;
}

PlatformFindings check_platform(const spec::PlatformSpec& platform, const std::vector<std::string>& hosts,
                                const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  PlatformFindings findings;
  findings.host_errors.resize(hosts.size());
  const auto* loaded_file = std::get_if<spec::PlatformFileSpec>(&platform.what);
  const std::string file = loaded_file == nullptr ? std::string() : loaded_file->path;
  if (loaded_file != nullptr) findings.file_errors = check_platform_text(file);
  if (!findings.file_errors.empty()) return findings;

  const bool as_built = loaded_file == nullptr && platform.changes.empty() && platform.profiles.empty();
  const auto check = [&](const MessageSink& sink) {
    std::unique_ptr<sg4::Engine> engine;
    try {
      if (as_built && platform.background.empty() && passes_as_described(platform, hosts, sink)) {
        tell(sink, CheckTopic::end, 0);
        std::_Exit(0);
      }
      engine = load_engine(platform);
    } catch (const EnvironmentError&) {
      throw;
    } catch (const simgrid::ParseError& error) {
      tell(sink, CheckTopic::parse_error, 0, error.what());
      std::_Exit(1);
    } catch (const std::exception& error) {
      tell(sink, CheckTopic::parse_error, 0, error.what());
      std::_Exit(1);
    }
    tell(sink, CheckTopic::loaded, 0);
    std::string fault = name_fault(*engine);
    if (fault.empty() && loaded_file != nullptr) fault = fault_of_properties(*engine);
    if (!fault.empty()) {
      tell(sink, CheckTopic::parse_error, 0, fault);
      std::_Exit(1);
    }
    for (const std::string& rate : event_rate_faults(platform, *engine)) {
      tell(sink, CheckTopic::route_error, 0, "the platform: " + rate);
    }
    check_hosts(hosts_of(*engine), platform, hosts, sink);
    std::vector<Way> ways;
    std::set<Way> known;
    for (const auto& [a, b] : pairs) {
      // Skips hosts of a declared platform, which are connected as built, over links already checked.
      if (as_built) break;
      const sg4::Host* from = engine->host_by_name_or_null(hosts.at(a));
      const sg4::Host* to = engine->host_by_name_or_null(hosts.at(b));
      if (from == nullptr || to == nullptr) continue;
      for (const Way& way : {Way{from, to}, Way{to, from}}) {
        if (known.insert(way).second) ways.push_back(way);
      }
    }
    for (const spec::PlatformSpec::Background& traffic : platform.background) {
      if (as_built) break;
      const sg4::Host* from = engine->host_by_name_or_null(traffic.from);
      const sg4::Host* to = engine->host_by_name_or_null(traffic.to);
      if (from != nullptr && to != nullptr && known.insert({from, to}).second) ways.emplace_back(from, to);
    }
    if (!ways.empty()) check_routes(ways, sink);
    std::fflush(nullptr);
    tell(sink, CheckTopic::end, 0);
    std::_Exit(0);  // ends the process without the engine's teardown, which is not needed and could fail
  };
  bool loaded = false;
  bool ended = false;
  const auto listen = [&](std::string_view bytes) {
    const auto [topic, index, what, remedy] = understand(bytes);
    const std::string words = remedy.empty() ? what : fmt::format("{}; {}", what, remedy);
    switch (topic) {
      case CheckTopic::loaded:
        loaded = true;
        break;
      case CheckTopic::parse_error:
        findings.file_errors.push_back(parse_error(file, what));
        break;
      case CheckTopic::host_error:
        findings.host_errors.at(index) = words;
        break;
      case CheckTopic::host_ready:
        break;
      case CheckTopic::route_error:
        findings.route_errors.push_back(words);
        break;
      case CheckTopic::end:
        ended = true;
        break;
    }
  };
  const ChildOutcome outcome = run_in_child(check, listen, kCheckTimeLimit);
  if (!ended && findings.file_errors.empty()) {
    const std::string words = failure_of(outcome, {});
    const std::string how =
        fmt::format("SimGrid {} while it {} this platform", outcome.description(), loaded ? "examined" : "read");
    Diagnostic diagnostic = parse_error(file, words);
    if (words.empty() || outcome.end == ChildOutcome::ChildEnd::timed_out) diagnostic.what = how;
    findings.file_errors.push_back(diagnostic);
  }
  return findings;
}

std::vector<spec::StateProfileSpec> state_profiles(const spec::PlatformSpec& platform) {
  const auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
  if (file == nullptr) return {};
  const std::string text = text_of_file(file->path);
  if (!may_have_state_profiles(text)) return {};
  StateProfiles found = read_state_profiles(file->path, text);
  if (!found.faults.empty()) throw InputError(std::move(found.faults));
  return std::move(found.profiles);
}

bool varies_over_time(const spec::PlatformSpec& platform) {
  if (!std::ranges::all_of(platform.profiles, is_steady)) return true;
  const auto* file = std::get_if<spec::PlatformFileSpec>(&platform.what);
  return file != nullptr && file_varies_over_time(file->path);
}

}  // namespace dadsim::sim
