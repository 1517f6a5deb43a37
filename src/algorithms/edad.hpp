#pragma once

#include "algorithms/algorithm.hpp"

namespace dadsim {

/// edAD (efficient dAD): the sites share the activations of every layer and the Δ of the last one only; every site
/// recomputes the other Δ over the rows of all sites, Δ̂_{l−1} = (Δ̂_l W_l) ⊙ φ'(Â_{l−1}), with the weights that all
/// have. Exact, about half of dAD's volume, for one more backward sweep over all rows. Where φ' cannot be had from φ
/// (GELU), Z is recomputed from the shared activations and that is charged as well.
class Edad final : public Algorithm {
 public:
  void run(TrainingStep& step) override;
};

AlgorithmInfo edad_info();

}  // namespace dadsim
