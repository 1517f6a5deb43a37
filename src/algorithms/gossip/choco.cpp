#include "algorithms/gossip/choco.hpp"

#include <memory>

#include "algorithms/gossip/fields.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {
void Choco::run(OwnWeightsStep& step) {
  if (known_.empty()) known_ = step.weights();
  Field x = step.weights();
  move_towards_known(step, x, known_, gamma_);
  step.set_weights(x);

  const Field news = combine(step, {{1, &x}, {-1, &known_}});
  OwnWeightsStep::Sending sending = step.send(news);
  step.compute_gradients();
  step.apply_gradients();
  step.receive_all(sending, step.pull_passes(), [&](std::size_t b, const Arrivals& arrivals) {
    parallel_for(step.sites(), [&](std::size_t i) {
      const Arrived* arrived = step.delivered(i, arrivals);
      known_[b][i] += arrived == nullptr ? news[b][i] : arrived->parts.front();
    });
  });
}

}  // namespace dadsim::algorithms
