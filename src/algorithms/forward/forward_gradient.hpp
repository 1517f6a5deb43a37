#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "algorithms/algorithm.hpp"
#include "algorithms/forward/blocks.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/optimizer.hpp"

namespace dadsim::algorithms {

/// Linear classifiers at the ends of all blocks but the last: logits = x̄ Wᵀ + b, with x̄ the mean over positions of a
/// block's output. They learn with the optimizer of the run, and are the same at all sites.
///
/// Charges a head that sees several rows per sample for each row, because no symbol counts samples.
class LocalHeads {
 public:
  LocalHeads(const models::Network& network, std::vector<LayerBlock> blocks, std::uint64_t seed);

  std::size_t count() const { return heads_.size(); }
  /// Runs forward passes and losses, with Δ, of all heads on the values of the step's forward pass.
  void forward(TrainingStep& step);
  const models::WeightsOf<float>& weights(std::size_t head) const { return heads_[head].network->layer(0); }
  /// Returns Δ of a head: rows (samples of all sites) × classes.
  const models::Matrix& delta(std::size_t head) const { return heads_[head].tape.value_gradients.back(); }
  /// Returns x̄ of all sites, samples × in.
  const models::Matrix& inputs(std::size_t head) const { return heads_[head].tape.values.front(); }
  /// Returns x̄ of a block's tangent, or of any value of the same shape.
  models::Matrix mean_over_positions(std::size_t head, const models::Matrix& value) const;

  /// Returns the work of rows × in × classes multiply-adds with a head's weights, recorded with the last matrix of its
  /// block.
  step::Work product_work() const;
  /// Returns the number of a head's parameters, recorded with the last matrix of its block.
  step::Expression parameters() const { return (step::extent::out() + 1.0) * classes_in_step_; }

  /// Sums the gradients Δᵀ x̄ of a head over sites, recorded with the last matrix of its block.
  Pending<models::Matrix> sum(TrainingStep& step, std::size_t head);
  /// Updates a head by the optimizer with a gradient, classes × (in + 1), biases last.
  void learn(TrainingStep& step, std::size_t head, const models::Matrix& gradient);

 private:
  struct LocalHead {
    LayerBlock block;
    Eigen::Index channels = 0;
    std::unique_ptr<models::Network> network;  // held by pointer, because the optimizer keeps its address
    std::unique_ptr<models::Optimizer> optimizer;
    models::Tape tape;
  };
  std::vector<LocalHead> heads_;
  std::int64_t classes_ = 0;
  step::Expression classes_in_step_;
};

/// Learning without a backward pass (Ren, Kornblith, Liao, Hinton, Scaling Forward Gradient With Local Losses, ICLR
/// 2023, arXiv 2210.03310). Forward-mode differentiation along with the forward pass gives the derivative c of the loss
/// along a random direction; c times that direction is the gradient in expectation.
///
/// *Weights* are perturbed along v ~ N(0, 1), one v for all samples of a site: g = c v. *Pre-activations* are perturbed
/// along u ~ N(0, 1), drawn for every sample i: dW = Σ_i (c_i u_i) x_iᵀ, with u zero for a ReLU that is off. The output
/// layer needs no direction, because its gradient needs one layer only.
///
/// Local losses train every block with a linear classifier at its end, and no tangent enters the block from below. With
/// groups, a loss has several copies of the same value: copy g is differentiated along the channels of group g alone
/// (the replicated aggregator of section 3), so that c has one number per group.
///
/// Gains and shifts of norms stay unchanged: the paper's parameter counts include none.
class ForwardGradient final : public Algorithm {
 public:
  enum class Perturb { activity, weight };
  struct Options {
    Perturb perturb = Perturb::activity;
    bool local = false;
    std::int64_t blocks = 0;  ///< blocks with losses of their own; 0: the maximum
    std::int64_t groups = 1;
    std::int64_t directions = 1;
    bool compact = false;  ///< sends factors of gradients instead of gradients
  };
  explicit ForwardGradient(const Options& options) : options_(options) {}

  void run(TrainingStep& step) override;

  /// Returns the heads of all blocks but the last; null before the first step.
  const LocalHeads* heads() const { return heads_.get(); }

 private:
  /// Derivatives c: per block, samples of all sites × groups.
  using Derivatives = std::vector<models::Matrix>;
  /// Returns the derivatives of all blocks' losses along one direction; `direction.add` adds the direction's part at
  /// matrix l to its Ż. `output`: perturbs the last matrix of a block too, in the loss copy of group 0.
  Derivatives differentiate(TrainingStep& step, const models::DirectionOf<float>& direction, bool output) const;
  void charge_differentiation(TrainingStep& step) const;
  /// Returns whether matrix l gets its gradient from its own Δ.
  bool is_output(const TrainingStep& step, std::size_t l) const { return l + 1 == step.layers(); }
  std::size_t block_of(std::size_t l) const;

  void perturb_activities(TrainingStep& step);
  void perturb_weights(TrainingStep& step);
  /// Sums over sites the gradients formed by `of`, and those of the heads.
  void share_gradients(TrainingStep& step, const std::function<TrainingStep::GradientOfSite(std::size_t l)>& of);
  void share_factors(TrainingStep& step);
  void share_seeds(TrainingStep& step, const std::vector<std::uint64_t>& seeds, const models::Matrix& scalars);
  /// Calls `body` with the head that follows matrix l, if there is one.
  void heads_behind(std::size_t l, const std::function<void(std::size_t head)>& body) const;
  /// Adds Σ_k c_k v_k ÷ directions for a matrix; `scalars` has blocks × groups of c for each k. `output`: the whole
  /// matrix uses the c of group 0.
  void add_directions(std::uint64_t seed, std::size_t matrix, std::size_t block, bool output,
                      models::ConstBlock scalars, models::LayerGradient& sum) const;
  void charge_directions(TrainingStep& step, const step::Expression& parameters, double sites) const;

  Options options_;
  std::vector<LayerBlock> blocks_;
  std::unique_ptr<LocalHeads> heads_;
};

}  // namespace dadsim::algorithms
