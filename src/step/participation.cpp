#include "step/participation.hpp"

#include <algorithm>
#include <limits>

namespace dadsim::step {

double Participation::share_used() const {
  if (asked == 0) return std::numeric_limits<double>::quiet_NaN();
  return static_cast<double>(answered) / static_cast<double>(asked);
}

void Participation::set_at_work(double now, std::size_t clients) {
  if (!at_work) at_work = AtWork{.clients = static_cast<double>(clients)};
  at_work->client_seconds += at_work->clients * (now - at_work->since);
  at_work->clients = static_cast<double>(clients);
  at_work->since = now;
}

double Participation::mean_at_work(double seconds, double all) const {
  if (!at_work || !(seconds > 0)) return all;
  const double mean = (at_work->client_seconds + at_work->clients * (seconds - at_work->since)) / seconds;
  return mean > 0 ? std::min(mean, all) : all;
}

double Participation::mean_staleness() const {
  double sum = 0;
  double times = 0;
  for (const auto& [behind, how_often] : staleness) {
    sum += static_cast<double>(behind) * static_cast<double>(how_often);
    times += static_cast<double>(how_often);
  }
  return times > 0 ? sum / times : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace dadsim::step
