#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace dadsim::sim {

/// Dates of a collective for each of those who take part: those who issue it, and behind them those who only receive.
/// One, where all are equal.
struct CollectiveDates {
  std::vector<double> done;
  std::vector<double> issued;  ///< by the last of those that one gets something from

  static double of(const std::vector<double>& dates, std::size_t slot) {
    return dates.size() == 1 ? dates[0] : dates[slot];
  }

  /// Once all are there.
  void shorten() {
    for (std::vector<double>* dates : {&done, &issued}) {
      if (std::ranges::adjacent_find(*dates, std::not_equal_to()) != dates->end()) continue;
      dates->resize(1);
      dates->shrink_to_fit();
    }
  }
};

}  // namespace dadsim::sim
