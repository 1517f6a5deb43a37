#include <memory>

#include "algorithms/gossip/power_gossip.hpp"
#include "algorithms/gossip/public_copies.hpp"
#include "algorithms/gossip/topology.hpp"

namespace dadsim::algorithms {

SynchronousMethod power_gossip_method() {
  static constexpr spec::IntegerParameter kRank{
      "rank", 1, 65536, "1", "vectors of every edge and matrix, as far as it has as many rows and columns"};
  static constexpr spec::IntegerParameter kIterations{"iterations", 1, 1000, "1",
                                                      "power iterations, and messages, per step"};
  static constexpr spec::RealParameter kGamma{
      "gamma", 0, 2, "1",
      "how far to move along what was found; nothing needs to be tuned at 1 (published runs on a "
      "ring of 8: 1.308)"};
  static constexpr auto kStart =
      spec::choice<bool>("start", {{"warm", false}, {"random", true}},
                         "warm: from the vectors of the iteration before; random: from vectors drawn anew");
  return {
      {.name = "power-gossip",
       .description =
           "Neighbours do power iterations on the difference of their weights, and move towards each other along what "
           "they find.",
       .source = "Vogels, Karimireddy, Jaggi, PowerGossip: Practical Low-Rank Communication Compression in "
                 "Decentralized Deep "
                 "Learning, NeurIPS 2020, arXiv 2008.01425",
       .payload = "rq and rp in turn, and the q biases, to every neighbour",
       .family = "decentralised",
       .formula = "even: p ← orth(p), q ← Xᵢᵀp − Xⱼᵀp; odd: q ← orth(q), p ← Xᵢq − Xⱼq; each end sends its product\n"
                  "X_i ← X_i − γ W_ij p qᵀ, X_j ← X_j + γ W_ij p qᵀ for every edge\n"
                  "X_i ← X_i − η g_i(X_i before)",
       .compute = "for every neighbour: orthonormal vectors, a product of the matrix with them, and p qᵀ added",
       .checks = "Average consensus of 8 sites in a ring, 100 × 100 normal numbers each, rank 1: errors after 1000 and "
                 "3000 iterations, warm and from random vectors (tests/algorithms/gossip/consensus_test.cpp)\n"
                 "The mean of the sites stays, to 1e-12 in double precision",
       .parameters = with_graph(GraphNeeds::undirected, {kRank, kIterations, kGamma, kStart}),
       .sharing = Sharing::own_weights,
       .forgets = methods::kSendsWeights,
       .check =
           [](const RunFacts& facts) {
             RunFaults faults = own_message_faults(facts, true);
             return faults.empty() ? graph_faults(GraphNeeds::undirected, facts) : faults;
           },
       .lossless = {},
       // The weights before the gradient, which neighbours' messages are of; vectors of two edges, as in a ring.
       .state =
           [](const spec::ParameterValues& values) {
             return estimate::AlgorithmState{
                 step::extent::parameters() +
                     2.0 * step::extent::matrix_rank(0) * (step::extent::in() + step::extent::out()),
                 static_cast<std::int32_t>(kRank.of(values))};
           },
       .remark = graph_remark},
      [](const spec::RunSpec& run) {
        return std::make_unique<PowerGossip>(
            PowerGossip::Options{kRank.of(run.parameters), kIterations.of(run.parameters), kGamma.of(run.parameters),
                                 kStart.of(run.parameters)});
      }};
}

}  // namespace dadsim::algorithms
