#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <optional>
#include <set>
#include <string>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/graphviz.hpp"
#include "cli/platform_argument.hpp"
#include "cli/study_options.hpp"
#include "report/document/document.hpp"
#include "report/text/escape.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "spec/platform_specification.hpp"
#include "support/atomic_file.hpp"
#include "support/environment_error.hpp"
#include "support/human.hpp"
#include "support/interrupt.hpp"
#include "support/version.hpp"

namespace dadsim::cli {
namespace {

using report::DocumentTable;
using report::Unit;

constexpr std::size_t kPlatformWidth = 110;  // width of the text, columns

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
  if (report.routes == 0) return "Routes: none, since the platform has one host.\n";
  std::string text = hanging_paragraph(fmt::format(
      "Routes: {} examined{}{}.", human_count(report.routes),
      report.all_routes ? ", from every host to every other" : " as a sample (all are too many)",
      report.routes_missing == 0 ? std::string()
                                 : fmt::format(", of which {} missing", human_count(report.routes_missing))));
  if (report.best) text += hanging_paragraph(in_words("best", *report.best), 2);
  if (report.worst) text += hanging_paragraph(in_words("worst", *report.worst), 2);
  return text;
}

/// Returns the transports in use, whose effects on nominal numbers are then printed.
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

report::DocumentValue object_of(const std::optional<sim::PlatformReport::Route>& route) {
  if (!route) return {};
  return report::object_with("from", route->from, "to", route->to, "links", route->links, "bytes_per_second",
                             route->bandwidth, "payload_bytes_per_second", route->payload_rate, "latency_seconds",
                             route->latency);
}

/// Returns the description of a platform. docs/output-platform.md documents every member. The text is at most 110
/// columns wide, except for rows of the table of links.
report::Document document_of(const std::string& file, const spec::PlatformSpec& platform,
                             const sim::PlatformReport& report) {
  report::Document document{report::ReportHead{.version = kVersion, .simgrid = sim::simgrid_version()}, {}};
  document.add("platform.file", file, "platform.description", report.description, "platform.kind", report.kind,
               "platform.hosts", report.hosts, "platform.nodes", report.nodes, "platform.profiles",
               platform.profiles.size(), "platform.background_streams", platform.background.size());
  document.print(
      hanging_paragraph(report.description.empty() ? file : fmt::format("{}: {}", file, report.description)) +
      hanging_paragraph(fmt::format("{}: {} on {}.", report.kind == "file" ? "SimGrid file" : report.kind,
                                    counted(report.hosts, "host"), counted(report.nodes, "node"))) +
      variation_in_words(platform));
  document.parts.push_back({.name = "links",
                            .shown = report::Shown::always,
                            .heading = "Links, one for each direction, with nominal numbers:",
                            .what = links_of(report)});
  document.add("routes.looked_at", report.routes, "routes.all", report.all_routes, "routes.missing",
               report.routes_missing, "routes.best", object_of(report.best), "routes.worst", object_of(report.worst),
               "bisection.bytes_per_second", report.bisection, "bisection.pairs", report.bisection_pairs);
  std::string text = '\n' + routes_in_words(report);
  if (report.bisection) {
    text += '\n' + hanging_paragraph(fmt::format(
                       "Bisection: {} one way, if host i of the first half sends to host i of the second half, {} at "
                       "once, with max-min fair shares.",
                       sim::rate_in_words(*report.bisection), counted(report.bisection_pairs, "pair")));
  }
  DocumentTable transports;
  for (const spec::Transport transport : transports_of(report)) {
    if (transports.rows.empty()) text += "\nWhat transports do:\n";
    transports.add_row().add("name", to_string(transport), "model", sim::describe(transport));
    text += hanging_paragraph(fmt::format("{}: {}.", to_string(transport), sim::describe(transport)), 2);
  }
  document.add("transports", transports);
  document.print(text);
  return document;
}

constexpr std::size_t kMostHosts = 256;  // largest number of hosts for which all routes are checked one by one

std::vector<std::string> names_of_hosts(const spec::PlatformSpec& platform) {
  std::vector<std::string> hosts;
  for (const sim::PlatformHost& host : sim::platform_hosts(platform)) hosts.push_back(host.name);
  return hosts;
}

/// Throws InputError if two hosts have no route. Checks each host against the first one, and all pairs of the first
/// 256.
void check_routes_of_hosts(const spec::PlatformSpec& platform) {
  const std::vector<std::string> hosts = names_of_hosts(platform);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < (from < kMostHosts ? from : 1); ++to) pairs.emplace_back(from, to);
  }
  check_routes_of_file(platform, hosts, pairs);
}

/// Calls inspect_platform(). If an interrupt ended its child process, reports an interrupt, and not a fault of the
/// platform.
sim::PlatformReport inspect(const spec::PlatformSpec& platform) {
  try {
    sim::PlatformReport report = sim::inspect_platform(platform);
    if (interrupted().load()) throw Cancelled();
    return report;
  } catch (const Cancelled&) {
    throw;
  } catch (const EnvironmentError&) {
    throw;
  } catch (const std::runtime_error& error) {
    check_routes_of_hosts(platform);  // SimGrid may crash if two hosts of a zone have no route
    throw sim::SimulationError(error.what());
  }
}

std::string routes_as_csv(const spec::PlatformSpec& platform) {
  const std::vector<std::string> hosts = names_of_hosts(platform);
  if (hosts.size() > kMostHosts) {
    throw UsageError(fmt::format("--routes writes every route, and needs at most {1} hosts; this platform has {0}",
                                 hosts.size(), kMostHosts));
  }
  std::string text = "from,to,link,bytes_per_second,latency_seconds,queue_bytes,transport\n";
  for (const sim::RouteLink& link : sim::platform_routes(platform, hosts)) {
    text += fmt::format("{},{},{},{},{},{},{}\n", report::csv_field(link.from), report::csv_field(link.to),
                        report::csv_field(link.link), link.bandwidth, link.latency, link.queue, link.transport);
  }
  return text;
}

}  // namespace

void run_platform(const po::variables_map& values) {
  const std::vector<std::string> operands = operands_of(values, 1, "name one platform at a time");
  if (operands.empty()) {
    throw UsageError("no platform is named; dadsim platform FILE, or see dadsim platform --help");
  }
  const std::string dot = text_of(values, "dot");
  const std::string svg = text_of(values, "svg");
  const std::string routes = text_of(values, "routes");
  const StudyFiles files(values, {{"the platform", operands[0]}},
                         {{"--dot", dot}, {"--svg", svg}, {"--routes", routes}});
  const std::optional<spec::Transport> transport = value_of<spec::Transport>(values, "transport");
  const std::string program = svg.empty() ? std::string() : find_dot();
  const spec::PlatformSpec platform = cli::load_platform_argument(operands[0], transport);
  files.check_against_inputs();
  const sim::PlatformReport report = inspect(platform);
  report::Document document = document_of(operands[0], platform, report);
  if (values.contains("links")) {
    std::string text = "\nNames of the links:\n";
    for (const sim::PlatformLink& link : sim::platform_links(platform)) text += fmt::format("  {}\n", link.name);
    document.print(text);
  }
  const std::string picture = svg.empty() ? std::string() : draw_svg(program, to_dot(report));
  const std::string routes_text = routes.empty() ? std::string() : routes_as_csv(platform);
  // Computes all outputs before it writes the first.
  if (!dot.empty()) write_file_atomically(dot, to_dot(report));
  if (!svg.empty()) write_file_atomically(svg, picture);
  if (!routes.empty()) write_file_atomically(routes, routes_text);
  files.write(document);
}

}  // namespace dadsim::cli
