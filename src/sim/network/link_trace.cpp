#include "sim/network/link_trace.hpp"

#include <algorithm>
#include <cstddef>

namespace dadsim::sim {

void LinkTrace::carried(std::int32_t link, double begin, double end, double bytes) {
  if (!(end > begin)) return;
  const auto index = static_cast<std::size_t>(link);
  if (index >= spans_.size()) spans_.resize(index + 1);
  std::vector<TracedSpan>& spans = spans_[index];
  while (!spans.empty() && spans.back().end >= begin) {
    begin = std::min(begin, spans.back().begin);
    bytes += spans.back().bytes;
    spans.pop_back();
  }
  spans.push_back({begin, end, bytes});
}

}  // namespace dadsim::sim
