#include "algorithms/gossip/sgp.hpp"

#include <memory>

#include "algorithms/gossip/fields.hpp"

namespace dadsim::algorithms {

void Sgp::run(OwnWeightsStep& step) {
  if (x_.empty()) {
    x_ = step.weights();
    w_.assign(step.sites(), models::Matrix::Ones(1, 1));
  }
  step.compute_gradients();
  add(x_, step.move_by_gradients());

  take_shares(step, x_);
  for (std::size_t i = 0; i < step.sites(); ++i) w_[i] *= static_cast<float>(step.round().shares[i]);
  OwnWeightsStep::Sending sending = step.send([&](std::size_t b) {
    NeighbourMessage message{{{step::extent::parameters(),
                               [&, b](std::size_t site, std::size_t) { return models::ConstBlock(x_[b][site]); }}}};
    if (step.carries_scalars(b)) {
      message.parts.push_back({1.0, [&](std::size_t site, std::size_t) { return models::ConstBlock(w_[site]); },
                               nullptr, true, step::extent::last_matrix()});
    }
    return message;
  });
  const auto neighbours = static_cast<double>(step.round().most_received);
  const OwnWeightsStep::Passes passes{.flops = neighbours, .floats = neighbours + 2, .launches = neighbours};
  Field x = x_;
  std::vector<models::Matrix> w = w_;
  step.receive(sending, passes, [&](std::size_t b, std::size_t i, const std::vector<Arrived>& arrived) {
    for (const Arrived& one : arrived) {
      x[b][i] += one.parts[0];
      if (step.carries_scalars(b)) w[i] += one.parts[1];
    }
  });
  x_ = std::move(x);
  w_ = std::move(w);
  step.set_weights(divided(step, x_, w_));
}

}  // namespace dadsim::algorithms
