#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "report/collective/collective_report.hpp"
#include "sim/simulator.hpp"

namespace dadsim::study {

/// A collective to time at several sizes.
struct CollectiveSizes {
  report::Operation operation = report::Operation::all_reduce;
  std::vector<double> bytes;  ///< bytes of the whole vector per size, as nccl-tests count
  std::string algorithm = "auto";
  std::vector<std::pair<int, int>> pairs = {};  ///< senders and receivers of messages
  std::size_t root = 0;
  bool rendezvous = false;
};

/// Returns the collective request of one size, among `ranks`.
collectives::CollectiveRequest request_of(const CollectiveSizes& sizes, double bytes, std::size_t ranks);

struct TimedSizes {
  std::vector<report::CollectiveRow> rows;  ///< per size, with its band
  step::NetworkUse network;
};

/// Returns the time of each size among the hosts of the cluster, for `dadsim collective` and the expectations of
/// `dadsim diagnose`. `progress` is called with the number of sizes done. Throws SimulationError.
TimedSizes time_sizes(const sim::Cluster& cluster, const CollectiveSizes& sizes,
                      const std::function<void(std::size_t)>& progress = {});

}  // namespace dadsim::study
