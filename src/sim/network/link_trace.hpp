#pragma once

#include <cstdint>
#include <vector>

namespace dadsim::sim {

/// When links carried something: spans that touch or overlap become one, with their bytes added up.
class LinkTrace {
 public:
  struct TracedSpan {
    double begin, end;  ///< seconds
    double bytes;       ///< payload
  };
  /// Calls are in the order of `end`.
  void carried(std::int32_t link, double begin, double end, double bytes);
  /// Per link of the network (those behind the end: nothing).
  const std::vector<std::vector<TracedSpan>>& spans() const { return spans_; }

 private:
  std::vector<std::vector<TracedSpan>> spans_;
};

}  // namespace dadsim::sim
