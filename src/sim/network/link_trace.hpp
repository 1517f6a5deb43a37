#pragma once

#include <cstdint>
#include <vector>

namespace dadsim::sim {

/// Periods in which links carried bytes. Periods that touch or overlap are merged, and their bytes added.
class LinkTrace {
 public:
  struct TracedSpan {
    double begin, end;  ///< seconds
    double bytes;       ///< payload, bytes
  };
  /// Adds a period; calls must be in the order of `end`.
  void carried(std::int32_t link, double begin, double end, double bytes);
  /// Returns the periods per link of the network; links after the end carried nothing.
  const std::vector<std::vector<TracedSpan>>& spans() const { return spans_; }

 private:
  std::vector<std::vector<TracedSpan>> spans_;
};

}  // namespace dadsim::sim
