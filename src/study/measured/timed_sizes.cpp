#include "study/measured/timed_sizes.hpp"

#include <algorithm>
#include <cstdint>
#include <map>

#include "estimate/bands.hpp"
#include "study/measured/collective_times.hpp"
#include "study/results/transfer.hpp"

namespace dadsim::study {
namespace {

/// Returns the largest number of messages that one rank receives, at least 1.
double most_received(const std::vector<std::pair<int, int>>& pairs) {
  std::map<std::int64_t, double> of_rank;
  double most = 1;
  for (const auto& [from, to] : pairs) most = std::max(most, ++of_rank[to]);
  return most;
}

/// Adds the error band: the factors that contain nine of ten measurements of such messages.
void add_band(const CollectiveSizes& sizes, const step::NetworkUse& network, std::size_t ranks,
              report::CollectiveRow& row) {
  if (network.links.empty()) return;
  const step::NetworkUse::Collective collective{.kind = to_string(sizes.operation),
                                                .algorithm = row.algorithm,
                                                .least_bytes = row.block_bytes,
                                                .most_bytes = row.block_bytes};
  const double at_once = sizes.pairs.empty() ? bytes_at_once(collective, static_cast<double>(ranks))
                                             : most_received(sizes.pairs) * row.block_bytes;
  row.category =
      category_of_messages(network, {row.size_bytes, at_once, sizes.rendezvous || row.algorithm.starts_with("gloo")});
  const estimate::Spread& spread = estimate::error_category(row.category).spread;
  row.band = {spread.low, spread.high};
}

bool uses_tcp(const step::NetworkUse& network) {
  return std::ranges::any_of(network.links,
                             [](const auto& link) { return link.transport == to_string(spec::Transport::tcp); });
}

}  // namespace

collectives::CollectiveRequest request_of(const CollectiveSizes& sizes, double bytes, std::size_t ranks) {
  collectives::CollectiveRequest request = request_of(sizes.operation, bytes, ranks, sizes.pairs);
  request.root = static_cast<collectives::Rank>(sizes.root);
  return request;
}

TimedSizes time_sizes(const sim::Cluster& of_scenario, const CollectiveSizes& sizes,
                      const std::function<void(std::size_t)>& progress) {
  sim::Cluster cluster = of_scenario;
  cluster.framework = {};  // benchmarks measure the library without a framework
  const std::size_t ranks = cluster.hosts.size();
  std::vector<sim::CollectiveJob> jobs;
  for (const double bytes : sizes.bytes) jobs.push_back({request_of(sizes, bytes, ranks), sizes.algorithm});
  sim::TimedCollectives timed = sim::time_collectives(cluster, jobs, progress);
  const bool tcp = uses_tcp(timed.network);
  TimedSizes result;
  for (std::size_t i = 0; i < sizes.bytes.size(); ++i) {
    sim::CollectiveTiming& timing = timed.timings.at(i);
    report::CollectiveRow& row = result.rows.emplace_back();
    row.size_bytes = sizes.bytes[i];
    row.block_bytes = has_blocks(sizes.operation) ? row.size_bytes / static_cast<double>(ranks) : row.size_bytes;
    row.algorithm = std::move(timing.algorithm);
    row.compared = std::move(timing.compared);
    row.protocol = std::move(timing.protocol);
    row.quicker = std::move(timing.quicker);
    row.fidelity = timing.fidelity;
    row.warm_seconds = timing.seconds;
    if (tcp && timing.fidelity == spec::Fidelity::message) row.cold_seconds = timing.cold_seconds;
    row.messages = timing.messages;
    add_band(sizes, timed.network, ranks, row);
  }
  result.network = std::move(timed.network);
  return result;
}

}  // namespace dadsim::study
