#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/leak/sample_rows.hpp"

namespace dadsim::algorithms {

/// Largest number of sites whose batches are measured in a step; sites take turns.
inline constexpr std::size_t kLeakSites = 4;
/// Largest number of sites that are observed.
inline constexpr std::size_t kSampledSites = 64;
/// Largest share of the multiply-adds of learning that measuring may take.
inline constexpr double kLeakCost = 0.02;

/// Returns the observed sites: all, or `most` evenly spread ones.
std::vector<std::int32_t> sampled_sites(std::size_t sites, std::size_t most = kSampledSites);

/// Returns the multiply-adds for finding `directions` directions in a gradient of the first matrix, or in `rows_read`
/// rows if these are more.
double basis_macs(const SampleRows& rows, double directions, double rows_read = 0);
/// Returns the multiply-adds of the forward pass of a sample.
double forward_macs(const models::Network& network);

/// Plan of measuring spans: steps between measurements, sites per measurement, rows read.
struct LeakPlan {
  std::int64_t every = 1;
  std::size_t sites = kLeakSites;
  bool last = true;  ///< measures in the last step too
  /// Rows read from sums over more than kSampledSites sites, in addition to rows of the measured sites.
  Eigen::Index rows = 256;
};
/// Plans measurements that take about 2 % of the multiply-adds of a run's learning, at most about twelve. The first
/// step is always measured, at one site or more. `batch`: samples per site and step.
LeakPlan leak_plan(const SampleRows& rows, const models::Network& network, std::int64_t batch, std::size_t sites,
                   std::int64_t steps);

}  // namespace dadsim::algorithms
