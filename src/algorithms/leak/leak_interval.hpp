#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/leak/sample_rows.hpp"

namespace dadsim::algorithms {

/// Sites whose batches are measured in a step, at most; the others take turns.
inline constexpr std::size_t kLeakSites = 4;
/// Sites that are looked at, at most.
inline constexpr std::size_t kSampledSites = 64;
/// Share of the multiply-adds of learning that measuring may take.
inline constexpr double kLeakCost = 0.02;

/// The sites that are looked at of so many: all, or `most` that are evenly spread.
std::vector<std::int32_t> sampled_sites(std::size_t sites, std::size_t most = kSampledSites);

/// Multiply-adds of finding some `directions` in a gradient of the first matrix, or in `rows_read` rows if more.
double basis_macs(const SampleRows& rows, double directions, double rows_read = 0);
/// Multiply-adds of the forward pass of a sample.
double forward_macs(const models::Network& network);

/// Steps between two measurements of spans, sites per measurement, rows that are read.
struct LeakPlan {
  std::int64_t every = 1;
  std::size_t sites = kLeakSites;
  bool last = true;  ///< also in the last step
  /// Rows that are read of what more than kSampledSites sites have sent together, beside those of measured sites.
  Eigen::Index rows = 256;
};
/// Plans measurements that take about 2 % of the multiply-adds of a run's learning, about twelve at most; the first
/// step is always measured, at one site or more. `batch`: samples of a site in a step.
LeakPlan leak_plan(const SampleRows& rows, const models::Network& network, std::int64_t batch, std::size_t sites,
                   std::int64_t steps);

}  // namespace dadsim::algorithms
