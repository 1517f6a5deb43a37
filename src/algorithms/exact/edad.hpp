#pragma once

#include <string>
#include <vector>

#include "algorithms/algorithm.hpp"

namespace dadsim::algorithms {

/// edAD (efficient dAD): the sites share the activations of every layer and the Δ of the last one only; every site
/// recomputes the other Δ over the rows of all sites, Δ̂_{l−1} = (Δ̂_l W_l) ⊙ φ'(Â_{l−1}), with the common weights.
/// Exact; about half of dAD's volume, for one more backward sweep over all rows. If φ' does not follow from φ (GELU), Z
/// is recomputed from the shared activations and charged as well.
///
/// Recomputes Δ_l only if layer l is dense and only its activation lies between layers l and l+1 (no norm, attention,
/// recurrence, pooling, sum or dropout). The Δ of other layers are shared as in dAD; the result names these layers.
class Edad final : public Algorithm {
 public:
  static constexpr const char* kName = "edad";

  void run(TrainingStep& step) override;
};

/// Returns the names of the layers before the last whose Δ are shared as in dAD because they cannot be recomputed.
std::vector<std::string> layers_that_share_deltas(const models::Network& network);

}  // namespace dadsim::algorithms
