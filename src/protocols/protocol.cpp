#include "protocols/protocol.hpp"

#include <numeric>
#include <string>

namespace dadsim::protocols {

bool Setting::new_version(const world::Value& weights, std::int64_t usual, bool last) const {
  play.progress();
  if (tally.updates > 0 && tally.first_update_at < 0) tally.first_update_at = play.now();
  const std::int64_t every = training().evaluate_every > 0 ? training().evaluate_every : usual;
  if (tally.updates % every != 0 && !last) return false;
  const auto& nodes = play.log().nodes;
  const double bytes =
      std::accumulate(nodes.begin(), nodes.end(), 0.0, [](double sum, const auto& node) { return sum + node.sent; });
  const world::Value quality = learning.evaluate_at(weights, play.now());
  tally.versions.push_back(
      {.at = play.now(), .updates = tally.updates, .samples = tally.samples, .bytes = bytes, .quality = quality});
  tally.last = weights;
  if (training().stop == spec::TrainingSpec::Stop::target &&
      learning.history().get(quality)->scalars[1] >= training().last_target()) {
    last = true;
  }
  if (last) play.stop();
  return last;
}

bool Setting::budget_spent() const {
  std::size_t all = 0;
  for (std::size_t site = 0; site < sites; ++site) all += learning.samples(site);
  return tally.samples >= training().epochs * static_cast<double>(all) - 1e-6;
}

}  // namespace dadsim::protocols
