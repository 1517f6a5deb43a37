
#include <memory>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/fields.hpp"
#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/gossip/topology.hpp"
#include "algorithms/methods.hpp"

namespace dadsim::algorithms {
namespace {

/// Stochastic gradient push (Assran, Loizou, Ballas, Rabbat, ICML 2019, arXiv 1811.10792, algorithm 1): push-sum on any
/// directed graph. Site i has x_i, a weight w_i that starts at 1, and z_i = x_i / w_i, at which gradients are computed:
///     x_i ← x_i − η u(g_i(z_i));  p_ji (x_i, w_i) to every receiver j, p_ii stays;  sums of all arrivals
/// with p_ji = 1 / (1 + number of receivers). Columns of p add up to one, so that Σ x_i moves by gradients alone and Σ
/// w_i = n.
class Sgp final : public GossipAlgorithm {
 public:
  void run(OwnWeightsStep& step) override;

 private:
  Field x_;
  std::vector<models::Matrix> w_;  ///< weight of each site, 1 × 1
};

}  // namespace

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

SynchronousMethod sgp_method() {
  return {
      {.name = "sgp",
       .family = "decentralised",
       .parameters = with_graph(GraphNeeds::nothing, {}, "one-peer-exponential"),
       .sharing = Sharing::own_weights,
       .forgets = methods::kSendsWeights,
       .check = graph_check(GraphNeeds::nothing),
       // Counts x next to z, and a message.
       .state = [](const spec::ParameterValues&) { return estimate::AlgorithmState{2.0 * step::extent::parameters()}; },
       .remark = graph_remark},
      [](const spec::RunSpec&) { return std::make_unique<Sgp>(); }};
}

}  // namespace dadsim::algorithms
