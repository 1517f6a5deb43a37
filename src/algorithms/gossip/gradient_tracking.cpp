#include "algorithms/gossip/gradient_tracking.hpp"

#include <memory>
#include <utility>

#include "algorithms/gossip/fields.hpp"

namespace dadsim::algorithms {

void GradientTracking::run(OwnWeightsStep& step) {
  step.compute_gradients();
  Field gradient = step.gradients();
  const bool is_first = mixed_.empty();
  for (std::size_t i = 0; i < step.sites(); ++i) {
    if (step.is_there(i)) continue;
    if (is_first && gradient_.empty()) gradient_ = mixed_ = step.zeros();
    for (std::size_t b = 0; b < gradient.size(); ++b) gradient[b][i] = gradient_[b][i];
  }
  const Field y = mixed_.empty() ? gradient : combine(step, {{1, &mixed_}, {1, &gradient}, {-1, &gradient_}});
  gradient_ = std::move(gradient);
  step.apply(y);

  const Field sent = step.weights();
  OwnWeightsStep::Sending sending = step.send([&](std::size_t b) {
    const auto rows = [b](const Field& field) {
      return [&field, b](std::size_t site, std::size_t) { return models::ConstBlock(field[b][site]); };
    };
    return NeighbourMessage{{{step::extent::parameters(), rows(sent)}, {step::extent::parameters(), rows(y)}}};
  });
  OwnWeightsStep::Passes passes = step.pull_passes();
  passes = {.flops = 2 * passes.flops, .floats = 2 * passes.floats, .launches = 2 * passes.launches};
  Field x = sent;
  mixed_ = y;
  step.receive(sending, passes, [&](std::size_t b, std::size_t i, const std::vector<Arrived>& arrived) {
    step.pull(x[b][i], sent[b][i], i, arrived, 1, 0);
    step.pull(mixed_[b][i], y[b][i], i, arrived, 1, 1);
  });
  step.set_weights(x);
}

}  // namespace dadsim::algorithms
