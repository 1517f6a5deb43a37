#include <memory>

#include "algorithms/gossip/sgp.hpp"
#include "algorithms/gossip/topology.hpp"

namespace dadsim::algorithms {

SynchronousMethod sgp_method() {
  return {
      {.name = "sgp",
       .description = "Sites push shares of their weights, and of a number that says how much they have, along any "
                      "directed graph.",
       .source = "Assran, Loizou, Ballas, Rabbat, Stochastic Gradient Push for Distributed Deep Learning, ICML 2019, "
                 "arXiv 1811.10792",
       .payload = "pq, and the q biases, to every neighbour; one number more in all",
       .family = "decentralised",
       .formula = "x_i ← x_i − η u(g_i(z_i))\n"
                  "x_i ← Σ_j p_ij x_j, w_i ← Σ_j p_ij w_j, p_ij = 1 / (1 + number of those that j sends to)\n"
                  "z_i = x_i / w_i",
       .compute = "passes over the weights: shares, a sum of what has arrived, a division",
       .checks =
           "Push-sum on graphs whose degrees differ: Σ w = n and Σ x stay, z → mean (to 1e-12 in double precision; "
           "tests/algorithms/gossip/consensus_test.cpp)",
       .parameters = with_graph(GraphNeeds::nothing, {}, "one-peer-exponential"),
       .sharing = Sharing::own_weights,
       .forgets = methods::kSendsWeights,
       .check = graph_check(GraphNeeds::nothing),
       // x beside z, and a message.
       .state = [](const spec::ParameterValues&) { return estimate::AlgorithmState{2.0 * step::extent::parameters()}; },
       .remark = graph_remark},
      [](const spec::RunSpec&) { return std::make_unique<Sgp>(); }};
}

}  // namespace dadsim::algorithms
