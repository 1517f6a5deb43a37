#pragma once

#include <functional>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/flexible/layer_rows.hpp"

namespace dadsim::algorithms {

/// Every way of sharing a layer side by side, of which each layer of the network that is timed takes one: the one that
/// sends the fewest bytes, or takes the least time on its cluster. A network with other shapes decides otherwise than
/// the one that learns, and so all are carried out for real and recorded, each op with the alternatives that it belongs
/// to. The exact ones leave the same gradient, so that what is learned does not depend on which is taken. Where
/// rank-dAD may be taken too, it is always its gradient that is learned from: choosing an exact way cannot lose more.
///
/// Counted as handed over is what is taken on the network that learns where bytes decide.
class Rehearsal final : public Algorithm {
 public:
  Rehearsal(spec::RunSpec run, SharedFactorsOptions factors);
  void run(TrainingStep& step) override;

 private:
  struct Layer {
    Pending<models::LayerGradient> sum;
    Pending<Rows> dad, edad, rank;
  };
  /// Bytes handed over in the ops of some alternatives of a layer.
  struct Entry {
    std::size_t layer = 0;
    step::AlternativeSet alternatives = 0;
    std::vector<double> over;
    double down = 0;
  };

  step::Choices choices(const TrainingStep& step) const;
  /// Carries out `what`, which belongs to these alternatives of layer l.
  void only_in(TrainingStep& step, std::size_t l, step::AlternativeSet alternatives, const std::function<void()>& what);
  void share(TrainingStep& step, std::size_t l, Layer& layer);
  void receive(TrainingStep& step, std::size_t l, Layer& layer);
  void count_what_is_taken(TrainingStep& step) const;

  spec::RunSpec run_;
  step::Choices::By by_;
  bool lossy_;
  SharedFactorsOptions factors_;
  std::vector<bool> may_lose_;               ///< per layer: it may take rank-dAD
  std::vector<Entry> entries_;               ///< of this step
  models::Matrix delta_;                     ///< Δ̂ of the layer at hand, or what comes down to its outputs
  const models::Matrix* outputs_ = nullptr;  ///< of the layer at hand, at all sites
};

}  // namespace dadsim::algorithms
