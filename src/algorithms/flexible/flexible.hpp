#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/flexible/layer_rows.hpp"
#include "algorithms/flexible/plan.hpp"

namespace dadsim::algorithms {

/// dAD's own flexibility: each layer is shared in the way its rule says, all in one backward pass. Baker et al. (arXiv
/// 2102.09631) promise "novel flexible training schemas" of averaging during back-propagation and leave open which;
/// what follows is the reading chosen here.
///   gradient   Σ_s Δ_sᵀ A_s, as gradient-sharing
///   dad        A and Δ of all sites, as dAD
///   edad       A of all sites; Δ̂ recomputed from the layer above, whose rows must be shared too; of the last layer A
///              and Δ
///   rank-dad   factors of Δᵀ A, found and merged as rank-dAD does it, two ways
///   none       nothing: each site has weights of its own there, and applies the gradient of its own mean loss
/// The exact statistics leave the same gradient, so that any mixture of them is exact.
///
/// `every` k: the layer's weights stay for k steps, in which its A and Δ (its gradients, for `gradient`) come together;
/// with the k-th they are shared and the layer is updated with the sum of the k gradients. If all layers do so, plain
/// SGD takes the step that it would take with batches k times as large and k times the learning rate. What is beside
/// the matrices, tables of embeddings among it, is summed in every step, also beside a site's own layers.
///
/// Average of Δ above layer L, where L and all below it are the sites' own (truncated edAD: a decoder that is shared on
/// encoders that are not): once Δ_L is there, every site's becomes the mean over sites, row i that of everybody's row
/// i, Δ̄_L = 1/S Σ_s Δ_L^{(s)}, and the passes below go on with it. This takes sites to have batches of one size and
/// rows to be comparable by where they stand, which nothing in the method assures.
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
  /// Takes what has come in and forms the layer's gradient.
  void receive(TrainingStep& step, std::size_t l);

  spec::RunSpec run_;
  SharedFactorsOptions factors_;
  std::vector<LayerPlan> plan_;
  std::optional<std::size_t> averaged_;  ///< the layer whose Δ are averaged
  std::vector<Backlog> backlog_;
  std::vector<LayerSharing> sharing_;
  models::Matrix delta_;                     ///< Δ̂ of the layer at hand, or what comes down to its outputs
  const models::Matrix* outputs_ = nullptr;  ///< of the layer at hand, at all sites
};

/// The parameters of rank-dAD.
SharedFactorsOptions factors_of(const spec::ParameterValues& values);

}  // namespace dadsim::algorithms
