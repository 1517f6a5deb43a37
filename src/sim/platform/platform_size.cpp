#include "sim/platform/platform_size.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "sim/platform/markup.hpp"
#include "support/human.hpp"
#include "support/parse_whole.hpp"
#include "support/split.hpp"

namespace dadsim::sim {
namespace {

constexpr double kMostHosts = 100'000;     // as of declared platforms (docs/platforms.md)
constexpr double kMostParts = 4'000'000;   // switches and links that a topology makes by itself; about 1 kB each
constexpr double kMostTableBytes = 2.0e9;  // of routes
constexpr double kBytesOfRoute = 8;        // a pointer for each ordered pair in a zone of the kind Full
constexpr double kBytesOfFloydRoute = 24;  // a cost, a predecessor and a pointer

std::optional<double> whole_number(std::string_view word) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = std::min(word.find_first_not_of(kBlank), word.size());
  word.remove_prefix(first);
  word = word.substr(0, word.find_last_not_of(kBlank) + 1);
  return parse_whole<double>(word);
}

/// How many hosts "0-3,7,9-11" names; nothing where it does not say: SimGrid says why.
std::optional<double> hosts_of_radical(const std::string& radical) {
  double hosts = 0;
  for (const std::string_view range : split_at(radical, ',')) {
    const std::size_t dash = range.find('-');
    const auto first = whole_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole_number(range.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    hosts += std::max(0.0, *last - *first + 1);
  }
  return hosts;
}

std::vector<double> numbers(std::string_view text) {
  std::vector<double> values;
  for (const std::string_view word : split_at(text, ',')) values.push_back(whole_number(word).value_or(0));
  return values;
}

/// Switches and links of a fat tree "levels;children;parents;cables" (SimGrid's FatTreeZone): a switch above level i
/// stands for what its own children leave of the levels above, once for each way up to it.
double parts_of_fat_tree(const std::vector<std::string_view>& groups) {
  if (groups.size() < 4) return 0;
  const std::vector<double> down = numbers(groups[1]);
  const std::vector<double> up = numbers(groups[2]);
  const std::vector<double> cables = numbers(groups[3]);
  const std::size_t levels = std::min({down.size(), up.size(), cables.size()});
  double parts = 0;
  double ways_up = 1;
  for (std::size_t i = 0; i < levels; ++i) {
    double below = ways_up;  // what level i is below
    for (std::size_t k = i; k < levels; ++k) below *= down[k];
    ways_up *= up[i];
    double switches = ways_up;
    for (std::size_t k = i + 1; k < levels; ++k) switches *= down[k];
    parts += switches + below * up[i] * cables[i];
  }
  return parts;
}

/// Routers and links of a dragonfly "groups,g;chassis,c;routers,r;nodes" (SimGrid's DragonflyZone).
double parts_of_dragonfly(const std::vector<std::string_view>& parameters) {
  if (parameters.size() < 4) return 0;
  std::vector<double> counts;
  counts.reserve(parameters.size());
  for (const std::string_view one : parameters) counts.push_back(std::max(1.0, numbers(one).front()));
  const double routers = counts[0] * counts[1] * counts[2];
  return routers + routers * (counts[1] + counts[2] + counts[3]) + counts[0] * counts[0];
}

}  // namespace

void PlatformSize::add_hosts(double count, int line) {
  hosts_ += count;
  if (hosts_ <= kMostHosts || reported_) return;
  reported_ = true;
  faults_.push_back({file_, line,
                     hosts_ < 1e15 ? fmt::format("{} hosts up to here", human_count(static_cast<std::int64_t>(hosts_)))
                                   : fmt::format("{:.2g} hosts up to here", hosts_),
                     fmt::format("at most {}", human_count(static_cast<std::int64_t>(kMostHosts)))});
}

void PlatformSize::add_point() {
  if (!zones_.empty()) ++zones_.back().points;
}

void PlatformSize::cluster(const Markup& markup) {
  if (const auto hosts = hosts_of_radical(markup.attribute("radical").value_or(""))) add_hosts(*hosts, markup.line());
  const std::string topology = markup.attribute("topology").value_or("");
  const std::string parameters = markup.attribute("topo_parameters").value_or("");
  const std::vector<std::string_view> groups = split_at(parameters, ';');
  const double parts = topology == "FAT_TREE"    ? parts_of_fat_tree(groups)
                       : topology == "DRAGONFLY" ? parts_of_dragonfly(groups)
                                                 : 0;
  parts_ += parts;
  if (parts_ <= kMostParts || parts == 0) return;
  faults_.push_back({file_, markup.line(),
                     fmt::format("topo_parameters=\"{}\" makes {:.2g} switches and links{}", parameters, parts_,
                                 parts_ > parts ? " with those of the clusters before it" : ""),
                     fmt::format("at most {:.2g}", kMostParts)});
}

void PlatformSize::start(const Markup& markup) {
  const std::string name = markup.name();
  if (name == "host" || name == "peer") add_hosts(1, markup.line());
  if (name == "cluster") cluster(markup);
  if (name == "cabinet") {
    if (const auto hosts = hosts_of_radical(markup.attribute("radical").value_or(""))) add_hosts(*hosts, markup.line());
  }
  const bool zone = name == "zone" || name == "AS";
  if (zone || name == "host" || name == "router" || name == "peer" || name == "cluster") add_point();
  if (zone && !markup.is_empty()) zones_.push_back({markup.attribute("routing").value_or(""), markup.line(), 0});
}

void PlatformSize::end(const Markup& markup) {
  const std::string name = markup.name();
  if ((name != "zone" && name != "AS") || zones_.empty()) return;
  const Zone zone = zones_.back();
  zones_.pop_back();
  const auto points = static_cast<double>(zone.points);
  const double each = zone.routing == "Full" ? kBytesOfRoute : zone.routing == "Floyd" ? kBytesOfFloydRoute : 0;
  const double bytes = points * points * each;
  const bool fitted = table_bytes_ <= kMostTableBytes;
  table_bytes_ += bytes;
  if (table_bytes_ <= kMostTableBytes || (!fitted && bytes <= kMostTableBytes)) return;
  faults_.push_back({file_, zone.line,
                     fmt::format("the routes of a zone with routing=\"{}\" and {} hosts, routers and zones take {}{}",
                                 zone.routing, human_count(zone.points), human_bytes(table_bytes_),
                                 table_bytes_ > bytes ? " with those of the zones before it" : ""),
                     "zones within it, each with its share of them, or a <cluster>"});
}

}  // namespace dadsim::sim
