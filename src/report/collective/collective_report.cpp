#include "report/collective/collective_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dadsim::report {
namespace {

constexpr double kElementBytes = 4;  // float32

}  // namespace

step::CollectiveKind kind_of(Operation operation) {
  if (operation == Operation::send) return step::CollectiveKind::neighbour_exchange;
  return spec::parse<step::CollectiveKind>(to_string(operation)).value();
}

bool has_blocks(Operation operation) {
  using enum Operation;
  return operation == all_gather || operation == reduce_scatter || operation == gather || operation == scatter ||
         operation == all_to_all;
}

double bus_factor(Operation operation, std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (operation == Operation::all_reduce) return 2 * (n - 1) / n;
  return has_blocks(operation) ? (n - 1) / n : 1;
}

double seconds_of(const CollectiveReport& report, const CollectiveRow& row) {
  return report.cold && row.cold_seconds ? *row.cold_seconds : row.warm_seconds;
}

double algorithm_bandwidth(const CollectiveReport& report, const CollectiveRow& row) {
  return row.size_bytes / seconds_of(report, row);
}

double bus_bandwidth(const CollectiveReport& report, const CollectiveRow& row) {
  return algorithm_bandwidth(report, row) * bus_factor(report.operation, report.hosts.size());
}

double average_bus_bandwidth(const CollectiveReport& report) {
  double sum = 0;
  double rows = 0;
  for (const CollectiveRow& row : report.rows) {
    const double bandwidth = bus_bandwidth(report, row);
    if (!std::isfinite(bandwidth)) continue;
    sum += bandwidth;
    ++rows;
  }
  return rows > 0 ? sum / rows : std::numeric_limits<double>::quiet_NaN();
}

Agreement agreement_of(const CollectiveReport& report) {
  Agreement agreement;
  double logarithms = 0;
  for (const CollectiveRow& row : report.rows) {
    if (!row.measured) continue;
    const double ratio = seconds_of(report, row) / row.measured->seconds;
    agreement.least = agreement.rows == 0 ? ratio : std::min(agreement.least, ratio);
    agreement.greatest = agreement.rows == 0 ? ratio : std::max(agreement.greatest, ratio);
    logarithms += std::log(ratio);
    agreement.mean_error += std::abs(ratio - 1);
    ++agreement.rows;
  }
  if (agreement.rows == 0) return agreement;
  agreement.mean = std::exp(logarithms / static_cast<double>(agreement.rows));
  agreement.mean_error /= static_cast<double>(agreement.rows);
  return agreement;
}

double count_of(const CollectiveRow& row) { return std::floor(row.block_bytes / kElementBytes); }

}  // namespace dadsim::report
