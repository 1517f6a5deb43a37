#include "sim/network/link_queue.hpp"

#include <algorithm>

namespace dadsim::sim {

LinkQueue::BusySpan LinkQueue::add(std::int32_t event, BusySpan arrives, double seconds, double now) {
  while (!jobs_.empty() && jobs_.front().leaves.end < now) jobs_.pop_front();
  BusySpan leaves;
  leaves.begin = std::max(free_, arrives.begin);
  leaves.end = std::max(leaves.begin + seconds, arrives.end);
  free_ = leaves.end;
  jobs_.push_back({event, arrives, leaves});
  return leaves;
}

double LinkQueue::wait(std::int32_t event, double date, double longest) const {
  double through = date;
  for (const QueuedJob& job : jobs_) {
    if (job.arrives.begin > date || (job.arrives.begin == date && job.event > event)) continue;
    const double length = job.arrives.end - job.arrives.begin;
    const double part = length > 0 ? std::min(1.0, (date - job.arrives.begin) / length) : 1;
    through = std::max(through, job.leaves.begin + part * (job.leaves.end - job.leaves.begin));
  }
  return std::min(through - date, longest);
}

}  // namespace dadsim::sim
