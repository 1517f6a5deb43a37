#include "sim/platform/event_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>

#include "sim/platform/markup.hpp"
#include "sim/platform/state_profiles.hpp"
#include "sim/process/compat.hpp"
#include "support/split.hpp"
#include "support/terminal.hpp"

namespace dadsim::sim {
namespace {

bool names_link(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

double narrowest(const sg4::Engine& engine, const std::string& from, const std::string& to) {
  const sg4::Host* source = engine.host_by_name_or_null(from);
  const sg4::Host* target = engine.host_by_name_or_null(to);
  if (source == nullptr || target == nullptr) return 0;  // unknown hosts are reported elsewhere
  std::vector<sg4::Link*> links;
  source->route_to(target, links, static_cast<double*>(nullptr));
  double rate = std::numeric_limits<double>::infinity();
  for (const sg4::Link* link : links) rate = std::min(rate, link->get_bandwidth());
  return rate;
}

/// Returns the changes per second of a profile in SimGrid's form ("date value" a line, LOOPAFTER or PERIODICITY with
/// seconds); 0 if it does not repeat.
double changes_per_second(const std::string& text, double period) {
  double dates = 0;
  double last = 0;
  double loop_after = -1;
  for (const std::string_view line : lines_of(text)) {
    const std::vector<std::string> words = words_of(line);
    if (words.size() < 2) continue;
    const std::string& first = words[0];
    char* end = nullptr;
    const double second = std::strtod(words[1].c_str(), &end);
    if (end == words[1].c_str()) continue;
    if (first == "LOOPAFTER") loop_after = second;
    if (first == "PERIODICITY") period = second;
    const double date = std::strtod(first.c_str(), &end);
    if (end == first.c_str() || *end != '\0') continue;
    ++dates;
    last = std::max(last, date);
  }
  if (loop_after >= 0) period = last + loop_after;
  if (dates == 0 || (period <= 0 && loop_after < 0)) return 0;
  return dates / std::max(period, std::numeric_limits<double>::min());
}

}  // namespace

std::vector<std::string> event_rate_faults(const spec::PlatformSpec& platform, const sg4::Engine& engine) {
  std::vector<std::string> faults;
  double changes = 0;
  for (const spec::PlatformSpec::Profile& profile : platform.profiles) {
    if (!(profile.period > 0)) continue;
    double links = 0;
    for (const sg4::Link* link : engine.get_all_links()) links += names_link(profile.link, link->get_name()) ? 1 : 0;
    changes += links * static_cast<double>(profile.times.size()) / profile.period;
  }
  if (changes > kMostEventsPerSecond) {
    faults.push_back(
        fmt::format("its profiles change links {:.2g} times per simulated second; use at most {:.0e}, with longer "
                    "periods or fewer links",
                    changes, kMostEventsPerSecond));
  }
  double messages = 0;
  for (const spec::PlatformSpec::Background& traffic : platform.background) {
    const double rate = narrowest(engine, traffic.from, traffic.to);
    const double through = rate > 0 ? traffic.bytes / rate : std::numeric_limits<double>::infinity();
    messages += 1 / std::max({through, traffic.every, std::numeric_limits<double>::min()});
  }
  if (messages > kMostEventsPerSecond) {
    faults.push_back(
        fmt::format("its background traffic is {:.2g} messages per simulated second; use at most {:.0e}, with more "
                    "bytes per message",
                    messages, kMostEventsPerSecond));
  }
  return faults;
}

void check_event_rate(const Markup& markup, const std::string& file, std::vector<Diagnostic>& diagnostics) {
  double changes = 0;
  if (markup.name() == "trace") {
    changes =
        changes_per_second(markup.text(), std::strtod(markup.attribute("periodicity").value_or("").c_str(), nullptr));
  }
  std::vector<std::string> names;
  for (const char* attribute :
       {"availability_file", "bandwidth_file", "latency_file", "speed_file", "state_file", "file"})
    names.push_back(markup.attribute(attribute).value_or(""));
  for (const std::string& name : names) {
    for (const std::filesystem::path& path :
         {std::filesystem::path(name), std::filesystem::path(file).parent_path() / name}) {
      constexpr std::uintmax_t kMostBytes = std::uintmax_t{64} << 20U;
      std::error_code error;
      if (name.empty() || !std::filesystem::is_regular_file(path, error)) continue;
      if (std::filesystem::file_size(path, error) > kMostBytes) {
        diagnostics.push_back(
            {path.string(), 0, "the profile has more than 64 MB", "use a shorter profile, with LOOPAFTER"});
      } else {
        changes = std::max(changes, changes_per_second(text_of_file(path.string()), 0));
      }
      break;
    }
  }
  if (changes <= kMostEventsPerSecond) return;
  diagnostics.push_back(
      {file, markup.line(),
       fmt::format("the profile of '{}' has {:.2g} changes per simulated second",
                   with_hidden_characters_shown(markup.attribute("id").value_or("")), changes),
       fmt::format("use at most {:.0e}, with a longer LOOPAFTER or periodicity", kMostEventsPerSecond)});
}

}  // namespace dadsim::sim
