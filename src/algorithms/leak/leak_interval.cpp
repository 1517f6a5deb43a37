#include "algorithms/leak/leak_interval.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::algorithms {

std::int64_t leak_interval(const SampleRows& rows, const models::Network& network, std::int64_t batch,
                           std::size_t sites, std::int64_t steps) {
  constexpr double kCost = 0.02, kOftenEnough = 12, kAlways = 2;  // the first step and the last
  const auto count = static_cast<double>(sites);
  const auto samples = static_cast<double>(batch);
  const auto p = static_cast<double>(rows.inputs());
  const auto q = static_cast<double>(rows.outputs());
  const double of_site = samples * static_cast<double>(rows.rows_per_sample());
  double forward = 0;
  for (const spec::LayerShape& layer : network.shape().layers) forward += layer.forward_macs_per_sample;
  const double step = std::max(1.0, 3 * forward * samples * count);
  // A basis of so many directions among q rows of p numbers (orthonormal.hpp): of combinations, or of the rows.
  const auto basis = [&](double likely) {
    const double combinations = std::min(likely, p) + 8, found = std::min({likely, q, p});
    const bool mixed = 2 * combinations <= q;
    const double tried = mixed ? combinations : q;
    return (mixed ? tried * q * p : 0) + tried * tried * p + 3 * found * found * p;
  };
  // Rows of the batch and of the control in the coordinates of a site's span and of the sum's, and one in the other.
  const double own = std::min({of_site, q, p});
  const double all = std::min({count * of_site, q, p});
  const double read = 2 * of_site * (own + all) * p + own * (own + all) * p;
  const double measured = std::min(static_cast<double>(kLeakSites), count);
  const double work = basis(count * of_site) + measured * (basis(of_site) + read + forward * samples);
  const auto of_run = static_cast<double>(steps);
  const double between = std::min(kOftenEnough, kCost * of_run * step / work - kAlways);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(of_run / std::max(1.0, between))));
}

}  // namespace dadsim::algorithms
