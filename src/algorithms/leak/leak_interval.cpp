#include "algorithms/leak/leak_interval.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::algorithms {

std::vector<std::int32_t> sampled_sites(std::size_t sites, std::size_t most) {
  const std::size_t count = std::min(sites, most);
  std::vector<std::int32_t> sampled;
  for (std::size_t i = 0; i < count; ++i) sampled.push_back(static_cast<std::int32_t>(i * sites / count));
  return sampled;
}

double forward_macs(const models::Network& network) {
  double forward = 0;
  for (const spec::LayerShape& layer : network.shape().layers) forward += layer.forward_macs_per_sample;
  return forward;
}

double basis_macs(const SampleRows& rows, double directions, double rows_read) {
  const auto p = static_cast<double>(rows.inputs());
  const auto q = std::max(rows_read, static_cast<double>(rows.outputs()));
  // Work of orthonormalising q rows of p numbers (orthonormal.hpp): with combinations of rows, or with the rows
  // themselves.
  const double combinations = std::min(directions, p) + 8, found = std::min({directions, q, p});
  const bool mixed = 2 * combinations <= q;
  const double tried = mixed ? combinations : q;
  return (mixed ? tried * q * p : 0) + tried * tried * p + 3 * found * found * p;
}

LeakPlan leak_plan(const SampleRows& rows, const models::Network& network, std::int64_t batch, std::size_t sites,
                   std::int64_t steps) {
  constexpr double kOftenEnough = 12, kAlways = 2;  // measures the first and the last step
  const auto count = static_cast<double>(sites);
  const auto samples = static_cast<double>(batch);
  const auto p = static_cast<double>(rows.inputs());
  const auto q = static_cast<double>(rows.outputs());
  const double of_site = samples * static_cast<double>(rows.rows_per_sample());
  const double forward = forward_macs(network);
  const double step = std::max(1.0, 3 * forward * samples * count);
  // Work of projecting rows of the batch and of the control onto the spans of a site and of the sum, and one span onto
  // the other.
  const double own = std::min({of_site, q, p});
  const double all = std::min({count * of_site, q, p});
  const double read = 2 * of_site * (own + all) * p + own * (own + all) * p;
  const auto of_run = static_cast<double>(steps);
  const double most = kLeakCost * of_run * step;
  LeakPlan plan{.sites = std::min(kLeakSites, sites)};
  constexpr double kFewest = 16;
  const double affordable = std::sqrt(most / (4 * p));  // r rows take about 4 r² p multiply-adds
  plan.rows = static_cast<Eigen::Index>(std::clamp(affordable, kFewest, static_cast<double>(plan.rows)));
  const double once = basis_macs(rows, count * of_site, sites > kSampledSites ? static_cast<double>(plan.rows) : 0);
  const double each = basis_macs(rows, of_site) + read + forward * samples;
  const auto work = [&] { return once + static_cast<double>(plan.sites) * each; };
  while (plan.sites > 1 && kAlways * work() > most) --plan.sites;
  plan.last = kAlways * work() <= most;
  const double between = std::min(kOftenEnough, most / work() - kAlways);
  plan.every = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(of_run / std::max(1.0, between))));
  return plan;
}

}  // namespace dadsim::algorithms
