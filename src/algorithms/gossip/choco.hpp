#pragma once

#include "algorithms/algorithm.hpp"
#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/gossip/public_copies.hpp"

namespace dadsim::algorithms {

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
  void run(OwnWeightsStep& step) override;

 private:
  /// Applies x_i ← x_i + γ Σ_j W_ij (x̂_j − x̂_i), from x̂_i and Σ_j W_ij x̂_j (arXiv 1907.09356, algorithm 1,
  /// footnote), or from x̂_ij and x̂_ji of each edge.
  void move_towards_known(OwnWeightsStep& step, Field& x) const;

  double gamma_;
  PublicCopies known_;
};

}  // namespace dadsim::algorithms
