#include "protocols/protocol.hpp"

#include <numeric>
#include <utility>

namespace dadsim::protocols {

bool Setting::new_version(const world::Value& weights, std::int64_t usual, bool last) const {
  loop.progress();
  if (log.updates > 0 && log.first_update_at < 0) log.first_update_at = loop.now();
  const std::int64_t every = training().evaluate_every > 0 ? training().evaluate_every : usual;
  if (log.updates % every != 0 && !last) return false;
  const auto& nodes = loop.log().nodes;
  const double bytes =
      std::accumulate(nodes.begin(), nodes.end(), 0.0, [](double sum, const auto& node) { return sum + node.sent; });
  const world::Value quality = learning.evaluate_at(weights, loop.now());
  log.versions.push_back(
      {.at = loop.now(), .updates = log.updates, .samples = log.samples, .bytes = bytes, .quality = quality});
  log.last = weights;
  if (training().stop == spec::TrainingSpec::Stop::target &&
      learning.history().get(quality)->scalars[1] >= training().last_target()) {
    last = true;
  }
  if (last) loop.stop();
  return last;
}

void Setting::send_again(world::Node from, world::Node to, world::Channel channel, world::Parcel lost,
                         world::Channel news) const {
  ++log.retried;
  loop.send(from, to, channel, {.values = std::move(lost.values), .bytes = lost.bytes, .number = lost.number}, news);
}

bool Setting::budget_spent() const {
  std::size_t all = 0;
  for (std::size_t site = 0; site < sites; ++site) all += learning.samples(site);
  return log.samples >= training().epochs * static_cast<double>(all) - 1e-6;
}

}  // namespace dadsim::protocols
