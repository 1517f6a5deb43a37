#include "algorithms/attendance.hpp"

namespace dadsim::algorithms {

std::vector<float> factors_of(const Attendance::Present& present, const std::vector<std::int64_t>& rows,
                              const std::vector<float>& worth) {
  if (worth.empty() && present.chances.empty()) return {};
  const auto worth_of = [&](std::size_t site) { return worth.empty() ? 1.0 : static_cast<double>(worth[site]); };
  double all = 0;
  for (const std::int64_t of_site : rows) all += static_cast<double>(of_site);
  double there = 0;
  double weighed = 0;
  for (const std::int32_t number : present.sites) {
    const auto site = static_cast<std::size_t>(number);
    there += static_cast<double>(rows[site]);
    weighed += worth_of(site) * static_cast<double>(rows[site]);
  }
  std::vector<float> factors;
  for (std::size_t i = 0; i < present.sites.size(); ++i) {
    const double worth_here = worth_of(static_cast<std::size_t>(present.sites[i]));
    // Leaves factors as they are if all sites are present: worths already make the parts add up to all rows, except for
    // rounding of batches.
    const bool everyone = present.sites.size() == rows.size();
    const double factor = !present.chances.empty() ? worth_here * there / (all * present.chances[i])
                          : everyone               ? worth_here
                                                   : worth_here * there / weighed;
    factors.push_back(static_cast<float>(factor));
  }
  return factors;
}

}  // namespace dadsim::algorithms
