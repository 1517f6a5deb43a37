#include "algorithms/step/layer_alternatives.hpp"

#include <cstdint>
#include <utility>

#include "schedule/assignment.hpp"

namespace dadsim::algorithms {

void LayerAlternatives::carry_out(std::size_t l, step::AlternativeSet alternatives, const std::function<void()>& body) {
  const Exchange& exchange = step_.exchange();
  SentAlternative sent{l, alternatives, exchange.uplink_bytes(), exchange.downlink_bytes()};
  step_.recorder().begin_alternatives(alternatives);
  body();
  step_.recorder().begin_alternatives(0);
  for (std::size_t site = 0; site < sent.up.size(); ++site) {
    sent.up[site] = exchange.uplink_bytes()[site] - sent.up[site];
  }
  sent.down = exchange.downlink_bytes() - sent.down;
  sent_.push_back(std::move(sent));
}

void LayerAlternatives::offer(step::Alternatives alternatives) {
  step_.recorder().offer(std::move(alternatives));
  const spec::ModelShape& shape = step_.network().shape();
  const step::Assignment fewest = schedule::fewest_bytes(step_.recorder().structure(), step_.recorder().sizes(), shape,
                                                         shape, 1, spec::Precision::fp32);
  std::vector<std::int32_t> of_layer;
  for (const std::int32_t one : fewest) {
    if (one >= 0) of_layer.push_back(one);
  }
  for (const SentAlternative& sent : sent_) {
    if (((sent.alternatives >> of_layer.at(sent.layer)) & 1) == 0) step_.exchange().forget(sent.up, sent.down);
  }
}

}  // namespace dadsim::algorithms
