#include "algorithms/gossip/d_psgd.hpp"

#include <memory>

namespace dadsim::algorithms {

void DPsgd::run(OwnWeightsStep& step) {
  Field sent;
  OwnWeightsStep::Sending sending;
  const auto send = [&] {
    sent = step.weights();
    sending = step.send(sent);
  };
  if (order_ == Order::overlapped) send();
  step.compute_gradients();
  step.apply_gradients();
  if (order_ == Order::adapt_then_combine) send();
  // x_i ← Σ_j W_ij x_j; what a gradient has changed since the weights were sent is not mixed.
  Field x = step.weights();
  step.receive(sending, step.pull_passes(), [&](std::size_t b, std::size_t i, const std::vector<Arrived>& arrived) {
    step.pull(x[b][i], sent[b][i], i, arrived);
  });
  step.set_weights(x);
}

}  // namespace dadsim::algorithms
