#pragma once

#include <cstdint>
#include <vector>

namespace dadsim::sim {

/// Max-min fair rates of transfers that share links with equal weights, by progressive filling (Bertsekas and Gallager,
/// Data Networks, 1992, section 6.5.2): the tightest link fixes the rate of those on it, then the next.
///
/// `capacity`: per link, in any unit per second; `links`: per transfer. A transfer without links gets an endless rate.
std::vector<double> max_min_rates(const std::vector<double>& capacity,
                                  const std::vector<const std::vector<std::int32_t>*>& links);

}  // namespace dadsim::sim
