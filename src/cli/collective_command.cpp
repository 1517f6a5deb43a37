#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include "cli/arguments.hpp"
#include "cli/collective_options.hpp"
#include "cli/commands.hpp"
#include "cli/platform_argument.hpp"
#include "cli/study_options.hpp"
#include "report/collective/collective_report.hpp"
#include "scenario/elements/host_list.hpp"
#include "sim/operations.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "study/measured/collective_times.hpp"
#include "study/measured/timed_sizes.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/progress.hpp"
#include "support/terminal.hpp"
#include "support/version.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

constexpr std::size_t kAllPairs = 256;  // largest number of hosts for which all routes are checked; with more, only
                                        // routes at distances of 1 and of powers of two

/// Returns the hosts that take part, in the order of the ranks.
std::vector<sim::PlatformHost> ranks_of(const CollectiveOptions& options, const spec::PlatformSpec& platform) {
  const std::vector<sim::PlatformHost> all = sim::platform_hosts(platform);
  const std::vector<std::string> hubs = scenario::hubs_of(platform);
  std::vector<sim::PlatformHost> ranks;
  if (!options.hosts.empty()) {
    std::map<std::string, const sim::PlatformHost*> by_name;
    std::vector<std::string> names, without_hubs;
    for (const sim::PlatformHost& host : all) {
      by_name[host.name] = &host;
      names.push_back(host.name);
      if (std::ranges::find(hubs, host.name) == hubs.end()) without_hubs.push_back(host.name);
    }
    const scenario::HostList list =
        scenario::expand_hosts(options.hosts, scenario::kMaxWorkers, [&] { return without_hubs; });
    if (!list.what.empty()) throw UsageError(fmt::format("--hosts {}; {}", list.what, list.remedy));
    for (const std::string& name : list.hosts) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) {
        throw UsageError(fmt::format("--hosts: the platform has no host '{}'; {}", name, sim::which_host(name, names)));
      }
      if (found->second == nullptr)
        throw UsageError(fmt::format("--hosts names '{}' twice; name each host once", name));
      ranks.push_back(*found->second);
      found->second = nullptr;
    }
    return ranks;
  }
  for (const sim::PlatformHost& host : all) {
    if (std::ranges::find(hubs, host.name) == hubs.end()) ranks.push_back(host);
  }
  if (options.ranks) {
    if (*options.ranks > ranks.size()) {
      throw UsageError(fmt::format("--ranks {} is too many; the platform has {} hosts", *options.ranks, ranks.size()));
    }
    ranks.resize(*options.ranks);
  }
  return ranks;
}

void check_pairs(const CollectiveOptions& options, std::size_t ranks) {
  for (const auto& [from, to] : options.pairs) {
    if (static_cast<std::size_t>(std::max(from, to)) >= ranks) {
      throw UsageError(fmt::format("--pairs: {}>{} is outside the {} rank{}; use ranks from 0 to {}", from, to, ranks,
                                   ranks == 1 ? "" : "s", ranks - 1));
    }
  }
}

/// Returns the pairs of ranks whose routes are checked before anything is simulated.
std::vector<std::pair<std::size_t, std::size_t>> pairs_to_check(const CollectiveOptions& options, std::size_t ranks) {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  if (!options.pairs.empty()) {
    for (const auto& [from, to] : options.pairs) {
      pairs.emplace_back(static_cast<std::size_t>(from), static_cast<std::size_t>(to));
    }
    return pairs;
  }
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t further = 1; from + further < ranks; further = ranks <= kAllPairs ? further + 1 : 2 * further) {
      pairs.emplace_back(from, from + further);
    }
  }
  return pairs;
}

/// Returns what to time. Sizes are those of the whole vector: with --per-rank, of operations with a block per rank, the
/// given ones times the number of ranks.
study::CollectiveSizes sizes_of(const CollectiveOptions& options, std::size_t ranks) {
  study::CollectiveSizes sizes{.operation = options.operation,
                               .bytes = options.sizes,
                               .algorithm = options.algorithm,
                               .pairs = options.pairs,
                               .root = options.root.value_or(0),
                               .rendezvous = options.rendezvous};
  if (options.per_rank && has_blocks(options.operation)) {
    for (double& bytes : sizes.bytes) bytes *= static_cast<double>(ranks);
  }
  return sizes;
}

bool has_root(const CollectiveOptions& options) {
  return options.root || options.operation == report::Operation::broadcast ||
         options.operation == report::Operation::reduce || options.operation == report::Operation::gather ||
         options.operation == report::Operation::scatter;
}

report::CollectiveReport time_operation(const CollectiveOptions& options, const spec::PlatformSpec& platform,
                                        const std::vector<sim::PlatformHost>& ranks, bool show_progress) {
  check_pairs(options, ranks.size());
  const study::CollectiveSizes sizes = sizes_of(options, ranks.size());
  sim::Cluster cluster;
  cluster.platform = platform;
  for (const sim::PlatformHost& host : ranks) cluster.hosts.push_back(host.name);
  try {
    lay_out(study::request_of(sizes, sizes.bytes.front(), ranks.size()), sizes.algorithm,
            sim::ranks_on(platform, cluster.hosts).value());
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
  check_routes_of_file(platform, cluster.hosts, pairs_to_check(options, ranks.size()));
  cluster.network.rendezvous = options.rendezvous;
  // Only message fidelity simulates new connections.
  cluster.network.fidelity = options.cold ? spec::Fidelity::message : options.fidelity;

  Progress progress("timing", 1, show_progress);
  study::TimedSizes timed = study::time_sizes(cluster, sizes, [&](std::size_t done) {
    if (interrupted().load()) throw Cancelled();
    progress.update(0, static_cast<std::int64_t>(done), static_cast<std::int64_t>(sizes.bytes.size()));
  });
  if (interrupted().load()) throw Cancelled();
  report::CollectiveReport report;
  report.rows = std::move(timed.rows);
  report.version = kVersion;
  report.simgrid = sim::simgrid_version();
  report.network_model = sim::network_model_description();
  report.platform_file = options.platform;
  report.platform_description = platform.description;
  report.operation = options.operation;
  report.hosts = cluster.hosts;
  if (has_root(options)) report.root = options.root.value_or(0);
  report.pairs = options.pairs;
  report.per_rank = options.per_rank;
  report.cold = options.cold;
  report.rendezvous = options.rendezvous;
  report.choice = options.algorithm;
  report.network = std::move(timed.network);
  return report;
}

study::CollectiveLog read_log(const std::string& path) {
  constexpr InputLimit kMost{std::size_t{64} << 20U, "use the part of the log with the tables"};
  return study::read_collective_log(path, read_input(path, "use a log of measured collectives", kMost));
}

/// Adds the measured times to the predicted times of the same sizes.
void add_measured(const study::CollectiveTimes& times, const CollectiveOptions& options,
                  report::CollectiveReport& report) {
  report.measured_file = options.measured;
  bool any = false;
  for (report::CollectiveRow& row : report.rows) {
    const auto found = std::ranges::find(times.rows, row.size_bytes, &study::CollectiveLog::LoggedRow::size);
    if (found == times.rows.end()) continue;
    any = true;
    row.measured = report::CollectiveRow::Measured{found->seconds, found->in_place_seconds};
  }
  if (!any) throw UsageError("--sizes: none of these sizes was measured; remove --sizes to use the sizes of the log");
}

}  // namespace

void run_collective(const po::variables_map& values) {
  CollectiveOptions options = collective_options_of(values);
  const StudyFiles files(values, {{"the platform", options.platform}, {"--measured", options.measured}});
  const spec::PlatformSpec platform = cli::load_platform_argument(options.platform, options.transport);
  files.check_against_inputs();
  const std::vector<sim::PlatformHost> ranks = ranks_of(options, platform);
  if (ranks.size() < 2)
    throw UsageError("a collective needs two hosts, but one takes part; use --hosts with two or more");
  std::optional<study::CollectiveTimes> times;
  if (!options.measured.empty()) {
    times =
        study::times_of(read_log(options.measured), options.measured, study::test_of(options.operation), ranks.size());
    for (const Diagnostic& warning : times->warnings) say(fmt::format("dadsim: warning: {}\n", to_string(warning)));
  }
  if (options.sizes_of_log) {
    options.sizes.clear();
    for (const study::CollectiveLog::LoggedRow& row : times->rows) options.sizes.push_back(row.size);
  }
  report::CollectiveReport report = time_operation(options, platform, ranks, !values.contains("quiet"));
  if (times) add_measured(*times, options, report);
  files.write(document_of(report));
}

}  // namespace dadsim::cli
