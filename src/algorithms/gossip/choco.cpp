#include <memory>

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/gossip/public_copies.hpp"
#include "algorithms/gossip/topology.hpp"
#include "algorithms/methods.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

/// CHOCO-SGD (Koloskova, Stich, Jaggi, ICML 2019, arXiv 1902.00340; in the order of Koloskova, Lin, Stich, Jaggi, ICLR
/// 2020, arXiv 1907.09356, algorithm 1, where messages overlap the passes). Every site keeps x̂_i, its neighbours' copy
/// of x_i:
///     x_i ← x_i + γ Σ_j W_ij (x̂_j − x̂_i)
///     q_i = Q(x_i − x̂_i) to the neighbours;  x̂_j ← x̂_j + q_j, at j and at its receivers
///     x_i ← x_i − η g_i(x_i)
/// Q is the <compress> of the run, block by block. Parameters outside the matrices are sent uncompressed, Q = identity.
/// All sites start from the same x, and so with x̂_i = x_i; the paper starts from x̂_i = 0. Once a site has missed a
/// step, x̂_ij of an edge replaces x̂_i (PublicCopies): x_i ← x_i + γ Σ_j W_ij (x̂_ji − x̂_ij), with W among the sites
/// present, which keeps the mean of all.
class Choco final : public GossipAlgorithm {
 public:
  explicit Choco(double gamma) : gamma_(gamma) {}
  void run(OwnWeightsStep& step) override {
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

 private:
  /// Applies x_i ← x_i + γ Σ_j W_ij (x̂_j − x̂_i), from x̂_i and Σ_j W_ij x̂_j (arXiv 1907.09356, algorithm 1,
  /// footnote), or from x̂_ij and x̂_ji of each edge.
  void move_towards_known(OwnWeightsStep& step, Field& x) const {
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

  double gamma_;
  PublicCopies known_;
};

RunFaults choco_faults(const RunFacts& facts) {
  RunFaults faults = own_message_faults(facts, false);
  return faults.empty() ? graph_faults(GraphNeeds::undirected_fixed, facts) : faults;
}

}  // namespace

SynchronousMethod choco_method() {
  static constexpr spec::RealParameter kGamma{"gamma", 0, 2, "1",
                                              "step of the averaging: 1 without compression, smaller with stronger "
                                              "compression (published: 0.45 with signs, 0.0375 with the largest 1 %)"};
  return {
      {.name = "choco-sgd",
       .family = "decentralised",
       .parameters = with_graph(GraphNeeds::undirected_fixed, {kGamma}),
       .sharing = Sharing::own_weights,
       .forgets = methods::kSendsWeights,
       .check = choco_faults,
       // Counts x̂ of the site, the sum of its neighbours' x̂, and a message.
       .state = [](const spec::ParameterValues&) { return estimate::AlgorithmState{3.0 * step::extent::parameters()}; },
       // Counts two copies per edge, and a message to each neighbour.
       .state_with_absence =
           [](const RunFacts& facts) {
             return estimate::AlgorithmState{1.5 * copies_per_edge(facts) * step::extent::parameters()};
           },
       .remark = graph_remark},
      [](const spec::RunSpec& run) { return std::make_unique<Choco>(kGamma.of(run.parameters)); }};
}

}  // namespace dadsim::algorithms
