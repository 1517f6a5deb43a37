#include "cli/platform_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "support/human.hpp"
#include "support/version.hpp"

namespace dadsim::cli {
namespace {

using report::DocumentTable;
using report::Unit;

constexpr std::size_t kPlatformWidth = 110;  // columns

std::string hanging_paragraph(std::string_view text, std::size_t indent = 0) {
  return std::string(indent, ' ') + wrapped(text, kPlatformWidth, indent + 2);
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", human_count(count), noun, count == 1 ? "" : "s");
}

DocumentTable links_of(const sim::PlatformReport& report) {
  DocumentTable links{.style = {.left = {}, .indent = 2, .rule = false}};
  for (const sim::PlatformReport::LinkClass& link : report.links)
    links.add_row()
        .say("count", human_count(link.count))
        .add("class", "class", link.name, Unit::text, link.name.empty() ? "–" : link.name)
        .add("directions", link.count)
        .add("bytes_per_second", "bandwidth", link.bandwidth, Unit::plain, sim::rate_in_words(link.bandwidth))
        .add("latency_seconds", "latency", link.latency, Unit::plain, sim::seconds_in_words(link.latency))
        .add("transport", "transport", link.transport, Unit::text)
        .add("efficiency", "efficiency", link.efficiency, Unit::plain, fmt::format("{:.4g}", link.efficiency));
  return links;
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

DocumentTable object_of(const std::optional<sim::PlatformReport::Route>& route) {
  DocumentTable table{.object = true};
  if (route)
    table.add_row()
        .add("from", route->from)
        .add("to", route->to)
        .add("links", route->links)
        .add("bytes_per_second", route->bandwidth)
        .add("payload_bytes_per_second", route->payload_rate)
        .add("latency_seconds", route->latency);
  return table;
}

}  // namespace

report::Document document_of(const std::string& file, const spec::PlatformSpec& platform,
                             const sim::PlatformReport& report) {
  report::Document document{report::ReportHead{.version = kVersion, .simgrid = sim::simgrid_version()}, {}};
  document.add("platform.file", file);
  document.add("platform.description", report.description);
  document.add("platform.kind", report.kind);
  document.add("platform.hosts", report.hosts);
  document.add("platform.nodes", report.nodes);
  document.add("platform.profiles", platform.profiles.size());
  document.add("platform.background_streams", platform.background.size());
  document.print(
      hanging_paragraph(report.description.empty() ? file : fmt::format("{}: {}", file, report.description)) +
      hanging_paragraph(fmt::format("{}: {} on {}.", report.kind == "file" ? "SimGrid file" : report.kind,
                                    counted(report.hosts, "host"), counted(report.nodes, "node"))) +
      variation_in_words(platform));
  document.parts.push_back({.name = "links",
                            .shown = report::Shown::always,
                            .heading = "Links, each direction by itself, with their nominal numbers:",
                            .what = links_of(report)});
  document.add("routes.looked_at", report.routes);
  document.add("routes.all", report.all_routes);
  document.add("routes.missing", report.routes_missing);
  document.add("routes.best", object_of(report.best));
  document.add("routes.worst", object_of(report.worst));
  document.add("bisection.bytes_per_second", report.bisection);
  document.add("bisection.pairs", report.bisection_pairs);
  std::string text = '\n' + routes_in_words(report);
  if (report.bisection) {
    text += '\n' + hanging_paragraph(fmt::format(
                       "Bisection: {} one way, when host i of the first half sends to host i of the second half, {} at "
                       "once, sharing all links max-min fairly.",
                       sim::rate_in_words(*report.bisection), counted(report.bisection_pairs, "pair")));
  }
  DocumentTable transports;
  for (const spec::Transport transport : transports_of(report)) {
    if (transports.rows.empty()) text += "\nWhat transports do:\n";
    transports.add_row().add("name", to_string(transport)).add("model", sim::describe(transport));
    text += hanging_paragraph(fmt::format("{}: {}.", to_string(transport), sim::describe(transport)), 2);
  }
  document.add("transports", transports);
  document.print(text);
  return document;
}

}  // namespace dadsim::cli
