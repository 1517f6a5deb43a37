#pragma once

#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/flexible/layer_rows.hpp"
#include "algorithms/step/layer_alternatives.hpp"

namespace dadsim::algorithms {

/// Every way of sharing a layer side by side, of which each layer of the network that is timed takes one: the one that
/// sends the fewest bytes, or takes the least time on its cluster. A network with other shapes decides otherwise than
/// the one that learns, and so all are carried out for real and recorded, each op with the alternatives that it belongs
/// to. The exact ones leave the same gradient, so that what is learned does not depend on which is taken. Where
/// rank-dAD may be taken too, it is always its gradient that is learned from: choosing an exact way cannot lose more.
///
/// Counted as handed over is what is taken on the network that learns where bytes decide.
class FlexibleByCost final : public Algorithm {
 public:
  FlexibleByCost(spec::RunSpec run, SharedFactorsOptions factors);
  void run(TrainingStep& step) override;

 private:
  struct Layer {
    Pending<models::LayerGradient> sum;
    Pending<Rows> dad, edad, rank;
  };

  step::Alternatives alternatives(const TrainingStep& step) const;
  void share(TrainingStep& step, LayerAlternatives& ways, std::size_t l, Layer& layer);
  void receive(TrainingStep& step, LayerAlternatives& ways, std::size_t l, Layer& layer);

  spec::RunSpec run_;
  step::Alternatives::By by_;
  bool lossy_;
  SharedFactorsOptions factors_;
  std::vector<bool> may_lose_;               ///< per layer: it may take rank-dAD
  models::Matrix delta_;                     ///< Δ̂ of the layer at hand, or what comes down to its outputs
  const models::Matrix* outputs_ = nullptr;  ///< of the layer at hand, at all sites
};

}  // namespace dadsim::algorithms
