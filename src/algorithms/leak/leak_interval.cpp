#include "algorithms/leak/leak_interval.hpp"

#include <algorithm>
#include <cmath>

namespace dadsim::algorithms {

std::int64_t leak_interval(const SampleRows& rows, const models::Network& network, std::int64_t batch,
                           std::size_t sites, std::int64_t steps) {
  // Householder's reflections take some four times as long as products of as many multiply-adds.
  constexpr double kReflections = 4, kCost = 0.03, kOftenEnough = 12, kReaders = 3;
  const auto count = static_cast<double>(sites);
  const auto samples = static_cast<double>(batch);
  const auto p = static_cast<double>(rows.inputs());
  const auto q = static_cast<double>(rows.outputs());
  const double of_site = samples * static_cast<double>(rows.rows_per_sample());
  double forward = 0;
  for (const spec::LayerShape& layer : network.shape().layers) forward += layer.forward_macs_per_sample;
  const double step = std::max(1.0, 3 * forward * samples * count);
  // A basis of so many directions among q rows of p numbers; what it leaves of another one; rows projected onto both.
  const auto basis = [&](double directions) {
    const double tried = std::min({directions + 8, q, p});
    return tried * q * p + kReflections * tried * tried * p;
  };
  const double own = std::min({of_site, q, p});
  const double both = std::min({count * of_site, q, p});
  const double merged = 4 * own * both * p + 2 * kReflections * own * own * p;
  const double projected = kReaders * 2 * of_site * both * p;
  const double measured = std::min(static_cast<double>(kLeakSites), count);
  const double work = basis(count * of_site) + measured * (basis(of_site) + merged + projected + forward * samples);
  return std::max<std::int64_t>(
      1,
      static_cast<std::int64_t>(std::ceil(std::max(static_cast<double>(steps) / kOftenEnough, work / (kCost * step)))));
}

}  // namespace dadsim::algorithms
