#pragma once

#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// edAD (efficient dAD): the sites share the activations of every layer and the Δ of the last one only; every site
/// recomputes the other Δ over the rows of all sites, Δ̂_{l−1} = (Δ̂_l W_l) ⊙ φ'(Â_{l−1}), with the weights that all
/// have. Exact, about half of dAD's volume, for one more backward sweep over all rows. Where φ' cannot be had from φ
/// (GELU), Z is recomputed from the shared activations and that is charged as well.
///
/// Δ_l can be recomputed only where layer l is dense and nothing but its activation stands between it and layer l+1
/// (no norm, attention, recurrence, pooling, sum or dropout). The Δ of the other layers are shared as in dAD; the
/// result names them.
class Edad final : public Algorithm {
 public:
  static constexpr const char* kName = "edad";

  void run(TrainingStep& step) override;
};

/// Names of the layers before the last whose Δ are shared as in dAD because they cannot be recomputed.
std::vector<std::string> layers_that_share_deltas(const models::Network& network);

}  // namespace dadsim::algorithms
