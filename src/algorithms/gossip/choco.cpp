#include "algorithms/gossip/choco.hpp"

#include "support/parallel.hpp"

namespace dadsim::algorithms {

void Choco::move_towards_known(OwnWeightsStep& step, Field& x) const {
  const double others = known_.is_per_edge() ? static_cast<double>(step.round().most_received) : 1;
  step.charge(step::Phase::add, {.flops = 3 * others, .floats = 2 + 2 * others, .launches = others});
  const auto& weights = step.round().mixing.from;
  parallel_for(step.sites(), [&](std::size_t i) {
    for (std::size_t b = 0; b < step.blocks(); ++b) {
      for (const auto& [sender, weight] : weights[i]) {
        const auto j = static_cast<std::size_t>(sender);
        gossip::pull(x[b][i], known_.at(b, i, j), {{weight, &known_.at(b, j, i)}}, gamma_);
      }
    }
  });
}

void Choco::run(OwnWeightsStep& step) {
  Field x = step.weights();
  known_.begin(step, x);
  move_towards_known(step, x);
  step.set_weights(x);

  const Field news = known_.news(step, x);
  OwnWeightsStep::Sending sending = step.send([&](std::size_t b) {
    return NeighbourMessage{.parts = {{step::extent::parameters(),
                                       [&, b](std::size_t site, std::size_t neighbour) {
                                         return models::ConstBlock(news[b][known_.place(site, neighbour)]);
                                       }}},
                            .same_for_all = !known_.is_per_edge()};
  });
  step.compute_gradients();
  step.apply_gradients();
  step.receive_all(sending, step.pull_passes(), [&](std::size_t b, const Arrivals& arrivals) {
    parallel_for(step.sites(), [&](std::size_t i) {
      if (known_.is_per_edge()) {
        for (const Arrived& arrived : arrivals[i]) {
          known_.at(b, static_cast<std::size_t>(arrived.sender), i) += arrived.parts.front();
        }
        return;
      }
      const Arrived* arrived = step.delivered(i, arrivals);
      known_.of(b, i) += arrived == nullptr ? news[b][i] : arrived->parts.front();
    });
  });
}

}  // namespace dadsim::algorithms
