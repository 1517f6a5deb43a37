#include "cli/platform_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "report/text/json_values.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "support/human.hpp"
#include "support/version.hpp"

namespace dadsim::cli {
namespace {

using report::Json;
using report::number;

std::string hanging_paragraph(std::string_view text, std::size_t indent = 0) {
  return std::string(indent, ' ') + wrapped(text, kPlatformWidth, indent + 2);
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", human_count(count), noun, count == 1 ? "" : "s");
}

std::string table_of_links(const std::vector<sim::PlatformReport::LinkClass>& links) {
  std::vector<std::array<std::string, 6>> rows{{"count", "class", "bandwidth", "latency", "transport", "efficiency"}};
  for (const sim::PlatformReport::LinkClass& link : links) {
    rows.push_back({human_count(link.count), link.name.empty() ? "–" : link.name, sim::rate_in_words(link.bandwidth),
                    sim::seconds_in_words(link.latency), link.transport, fmt::format("{:.4g}", link.efficiency)});
  }
  std::array<std::size_t, 6> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths.at(i) = std::max(widths.at(i), display_width(row.at(i)));
  }
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("  {}  {}  {}  {}  {}  {}\n", right_aligned(row[0], widths[0]), left_aligned(row[1], widths[1]),
                        right_aligned(row[2], widths[2]), right_aligned(row[3], widths[3]),
                        left_aligned(row[4], widths[4]), right_aligned(row[5], widths[5]));
  }
  return text;
}

std::string in_words(const char* which, const sim::PlatformReport::Route& route) {
  return fmt::format("{}: {} → {}, {} ({} of payload), {}, over {}", which, route.from, route.to,
                     sim::rate_in_words(route.bandwidth), sim::rate_in_words(route.payload_rate),
                     sim::seconds_in_words(route.latency),
                     route.links.empty() ? "no link" : fmt::format("{}", fmt::join(route.links, ", ")));
}

std::string routes_in_words(const sim::PlatformReport& report) {
  if (report.routes == 0) return "Routes: none, there is one host.\n";
  std::string text = hanging_paragraph(fmt::format(
      "Routes: {} looked at{}{}.", human_count(report.routes),
      report.all_routes ? ", from every host to every other" : " of hosts near and far (all are too many)",
      report.routes_missing == 0 ? std::string()
                                 : fmt::format(", of which {} missing", human_count(report.routes_missing))));
  if (report.best) text += hanging_paragraph(in_words("best", *report.best), 2);
  if (report.worst) text += hanging_paragraph(in_words("worst", *report.worst), 2);
  return text;
}

/// What transports do to the nominal numbers, for those that occur.
std::vector<spec::Transport> transports_of(const sim::PlatformReport& report) {
  std::vector<spec::Transport> used;
  for (const spec::Transport transport :
       {spec::Transport::plain, spec::Transport::tcp, spec::Transport::rdma, spec::Transport::nvlink}) {
    if (std::ranges::any_of(report.links, [&](const auto& link) { return link.transport == to_string(transport); })) {
      used.push_back(transport);
    }
  }
  return used;
}

std::string variation_in_words(const spec::PlatformSpec& platform) {
  std::vector<std::string> parts;
  if (!platform.profiles.empty()) {
    std::set<std::string> links;
    for (const spec::PlatformSpec::Profile& profile : platform.profiles) links.insert(profile.link);
    parts.push_back(fmt::format("{} vary over time", fmt::join(links, ", ")));
  }
  if (!platform.background.empty()) {
    parts.push_back(
        fmt::format("{} of others' traffic", counted(static_cast<std::int64_t>(platform.background.size()), "stream")));
  }
  return parts.empty() ? std::string() : hanging_paragraph(fmt::format("Beside that: {}.", fmt::join(parts, "; ")));
}

Json to_json_object(const std::optional<sim::PlatformReport::Route>& route) {
  if (!route) return nullptr;
  return {{"from", route->from},
          {"to", route->to},
          {"links", route->links},
          {"bytes_per_second", number(route->bandwidth)},
          {"payload_bytes_per_second", number(route->payload_rate)},
          {"latency_seconds", number(route->latency)}};
}

}  // namespace

std::string to_text(const std::string& file, const spec::PlatformSpec& platform, const sim::PlatformReport& report) {
  std::string text =
      hanging_paragraph(report.description.empty() ? file : fmt::format("{}: {}", file, report.description)) +
      hanging_paragraph(fmt::format("{}: {} on {}.", report.kind == "file" ? "SimGrid file" : report.kind,
                                    counted(report.hosts, "host"), counted(report.nodes, "node")));
  text += variation_in_words(platform);
  if (!report.links.empty()) {
    text += "\nLinks, each direction by itself, with their nominal numbers:\n" + table_of_links(report.links);
  }
  text += '\n' + routes_in_words(report);
  if (report.bisection) {
    text += '\n' + hanging_paragraph(fmt::format(
                       "Bisection: {} one way, when host i of the first half sends to host i of the second half, {} at "
                       "once, sharing all links max-min fairly.",
                       sim::rate_in_words(*report.bisection), counted(report.bisection_pairs, "pair")));
  }
  const std::vector<spec::Transport> transports = transports_of(report);
  if (!transports.empty()) text += "\nWhat transports do:\n";
  for (const spec::Transport transport : transports) {
    text += hanging_paragraph(fmt::format("{}: {}.", to_string(transport), sim::describe(transport)), 2);
  }
  return text;
}

std::string to_json(const std::string& file, const spec::PlatformSpec& platform, const sim::PlatformReport& report) {
  Json json;
  json["dadsim"] = {{"version", kVersion}, {"simgrid", sim::simgrid_version()}};
  json["platform"] = {{"file", file},
                      {"description", report.description},
                      {"kind", report.kind},
                      {"hosts", report.hosts},
                      {"nodes", report.nodes},
                      {"profiles", platform.profiles.size()},
                      {"background_streams", platform.background.size()}};
  Json& links = json["links"] = Json::array();
  for (const sim::PlatformReport::LinkClass& link : report.links) {
    links.push_back({{"class", link.name},
                     {"directions", link.count},
                     {"bytes_per_second", number(link.bandwidth)},
                     {"latency_seconds", number(link.latency)},
                     {"transport", link.transport},
                     {"efficiency", number(link.efficiency)}});
  }
  json["routes"] = {{"looked_at", report.routes},
                    {"all", report.all_routes},
                    {"missing", report.routes_missing},
                    {"best", to_json_object(report.best)},
                    {"worst", to_json_object(report.worst)}};
  json["bisection"] = {{"bytes_per_second", number(report.bisection)}, {"pairs", report.bisection_pairs}};
  Json& transports = json["transports"] = Json::array();
  for (const spec::Transport transport : transports_of(report)) {
    transports.push_back({{"name", to_string(transport)}, {"model", sim::describe(transport)}});
  }
  return report::indented(json);
}

}  // namespace dadsim::cli
