#pragma once

#include <optional>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/flexible/layer_rows.hpp"
#include "algorithms/flexible/plan.hpp"

namespace dadsim::algorithms {

/// dAD's own flexibility: each layer is shared in the way its rule says, all in one backward pass. Baker et al. (arXiv
/// 2102.09631) promise "novel flexible training schemas" of averaging during back-propagation without defining them;
/// this class implements one reading.
///   gradient   Σ_s Δ_sᵀ A_s, as gradient-sharing
///   dad        A and Δ of all sites, as dAD
///   edad       A of all sites; Δ̂ recomputed from the layer above, whose rows must be shared too; of the last layer A
///              and Δ
///   rank-dad   factors of Δᵀ A, found and merged as rank-dAD does it, two ways
///   none       nothing: each site has weights of its own there, and applies the gradient of its own mean loss
/// The exact statistics leave the same gradient, so that any mixture of them is exact.
///
/// `every` k: the layer's weights stay for k steps, while its A and Δ (its gradients, for `gradient`) accumulate. In
/// the k-th step they are shared, and the layer is updated with the sum of the k gradients. If all layers do so, plain
/// SGD takes the step of batches k times as large with k times the learning rate. Parameters outside the matrices,
/// including embedding tables, are summed in every step, even if sites have layers of their own.
///
/// Average of Δ above layer L, with L and all layers below it the sites' own (truncated edAD: a shared decoder on
/// private encoders): every site replaces Δ_L by the mean over sites, row by row, Δ̄_L = 1/S Σ_s Δ_L^{(s)}, and the
/// passes below continue with it. This requires batches of one size, and rows that are comparable by their position,
/// which the method itself does not ensure.
class Flexible final : public Algorithm {
 public:
  explicit Flexible(spec::RunSpec run);
  void run(TrainingStep& step) override;

 private:
  /// The accumulated rows of a layer that is not shared in every step.
  struct Backlog {
    RowsOfSteps rows;
    GradientsOfSteps gradients;
  };
  /// The pending exchanges of a layer in this step.
  struct LayerSharing {
    bool due = true;
    Pending<models::LayerGradient> sum;
    Pending<Rows> rows;
  };

  void share(TrainingStep& step, std::size_t l);
  void share_gradient(TrainingStep& step, std::size_t l);
  /// Takes the received data and forms the layer's gradient.
  void receive(TrainingStep& step, std::size_t l);

  spec::RunSpec run_;
  SharedFactorsOptions factors_;
  std::vector<LayerPlan> plan_;
  std::optional<std::size_t> averaged_;  ///< the layer whose Δ are averaged
  std::vector<Backlog> backlog_;
  std::vector<LayerSharing> sharing_;
  models::Matrix delta_;                     ///< Δ̂ of the current layer, or the gradient that arrives at its outputs
  const models::Matrix* outputs_ = nullptr;  ///< outputs of the current layer, at all sites
};

/// Returns the parameters of rank-dAD.
SharedFactorsOptions factors_of(const spec::ParameterValues& values);

}  // namespace dadsim::algorithms
