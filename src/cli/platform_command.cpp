#include <fmt/format.h>

#include <boost/program_options.hpp>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/graphviz.hpp"
#include "cli/output_files.hpp"
#include "cli/platform_argument.hpp"
#include "cli/platform_report.hpp"
#include "cli/print.hpp"
#include "cli/usage_error.hpp"
#include "report/text/csv_field.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "support/atomic_file.hpp"
#include "support/environment_error.hpp"
#include "support/interrupt.hpp"

namespace dadsim::cli {
namespace {

namespace po = boost::program_options;

po::options_description platform_options() {
  po::options_description options("Options");
  options.add_options()  //
      ("dot", po::value<std::string>()->value_name("FILE"),
       "write a picture in the language of Graphviz; - is standard output")  //
      ("svg", po::value<std::string>()->value_name("FILE"),
       "write a picture as SVG, drawn by Graphviz's program dot (package graphviz); - is standard output")  //
      ("json", po::value<std::string>()->value_name("FILE"),
       "write the same as JSON (docs/output-platform.md); - is standard output")  //
      ("transport", po::value<std::string>()->value_name("T"),
       "how the links of a SimGrid file are used: plain (default), tcp, rdma, nvlink")  //
      ("routes", po::value<std::string>()->value_name("FILE"),
       "write the links of every route as CSV (docs/output-platform.md); - is standard output")  //
      ("links", "list the names of all links as well, one a line: profiles name them")           //
      ("quiet", "no text")                                                                       //
      ("help", "this text");
  return options;
}

constexpr std::size_t kMostHosts = 256;  // with their routes looked at one by one

std::vector<std::string> names_of_hosts(const spec::PlatformSpec& platform) {
  std::vector<std::string> hosts;
  for (const sim::PlatformHost& host : sim::platform_hosts(platform)) hosts.push_back(host.name);
  return hosts;
}

/// Throws InputError where two hosts have no route: each with the first host, and the first 256 among themselves.
void check_routes_of_hosts(const spec::PlatformSpec& platform) {
  const std::vector<std::string> hosts = names_of_hosts(platform);
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t from = 0; from < hosts.size(); ++from) {
    for (std::size_t to = 0; to < (from < kMostHosts ? from : 1); ++to) pairs.emplace_back(from, to);
  }
  check_routes_of_file(platform, hosts, pairs);
}

/// As inspect_platform; an interrupt that ended its child process is one, not a fault of the platform.
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
    check_routes_of_hosts(platform);  // SimGrid may crash where a zone has no route between two hosts
    throw sim::SimulationError(error.what());
  }
}

std::string routes_as_csv(const spec::PlatformSpec& platform) {
  const std::vector<std::string> hosts = names_of_hosts(platform);
  if (hosts.size() > kMostHosts) {
    throw UsageError(fmt::format("--routes writes every route; this platform has {} hosts, and at most {} would do",
                                 hosts.size(), kMostHosts));
  }
  std::string text = "from,to,link,bytes_per_second,latency_seconds,queue_bytes,transport\n";
  for (const sim::RouteLink& link : sim::platform_routes(platform, hosts)) {
    text += fmt::format("{},{},{},{},{},{},{}\n", report::csv_field(link.from), report::csv_field(link.to),
                        report::csv_field(link.link), link.bandwidth, link.latency, link.queue, link.transport);
  }
  return text;
}

void run_platform(const po::variables_map& values) {
  const std::vector<std::string> operands = operands_of(values, 1, "one platform at a time");
  if (operands.empty()) {
    throw UsageError("no platform is named; dadsim platform FILE, or see dadsim platform --help");
  }
  const std::string dot = text_of(values, "dot");
  const std::string svg = text_of(values, "svg");
  const std::string json = text_of(values, "json");
  const std::string routes = text_of(values, "routes");
  const OutputFiles outputs({{"--dot", dot}, {"--svg", svg}, {"--json", json}, {"--routes", routes}},
                            {{"the platform", operands[0]}});
  outputs.check_writable();
  const std::optional<spec::Transport> transport = value_of<spec::Transport>(values, "transport");
  const std::string program = svg.empty() ? std::string() : find_dot();
  const spec::PlatformSpec platform = cli::load_platform_argument(operands[0], transport);
  outputs.check_against_inputs();
  const sim::PlatformReport report = inspect(platform);
  report::Document document = document_of(operands[0], platform, report);
  if (values.contains("links")) {
    std::string text = "\nNames of the links:\n";
    for (const sim::PlatformLink& link : sim::platform_links(platform)) text += fmt::format("  {}\n", link.name);
    document.print(text);
  }
  const std::string picture = svg.empty() ? std::string() : draw_svg(program, to_dot(report));
  const std::string routes_text = routes.empty() ? std::string() : routes_as_csv(platform);
  // All there is to write is there before anything is written.
  if (!dot.empty()) write_file_atomically(dot, to_dot(report));
  if (!svg.empty()) write_file_atomically(svg, picture);
  if (!json.empty()) write_file_atomically(json, to_json(document));
  if (!routes.empty()) write_file_atomically(routes, routes_text);
  if (!values.contains("quiet") && !outputs.take_standard_output()) print(summary_of(document, false));
}

}  // namespace

Command platform_command() {
  return {"platform",
          "FILE",
          "look at a platform: links, routes, bisection; pictures",
          Command::Operand::platform,
          "dadsim platform [options] FILE\n"
          "says what is built from a platform file (one of SimGrid, or <cluster-platform>) or for a scenario: hosts,\n"
          "links, the best and the worst route, the bisection bandwidth, and what the links' transports do.\n\n",
          platform_options,
          run_platform};
}

}  // namespace dadsim::cli
