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

/// Linear classifiers at the ends of the blocks below the last: logits = x̄ Wᵀ + b, x̄ the mean over positions of what a
/// block gives. They learn with the optimizer of the run, and all sites have the same.
///
/// A head that sees several rows per sample is charged as if it were run at each of them: no symbol says samples.
class LocalHeads {
 public:
  LocalHeads(const models::Network& network, std::vector<LayerBlock> blocks, std::uint64_t seed);

  std::size_t count() const { return heads_.size(); }
  /// Forward passes and losses, with Δ, of all heads, on what the step's forward pass has left.
  void forward(TrainingStep& step);
  const models::WeightsOf<float>& weights(std::size_t head) const { return heads_[head].network->layer(0); }
  /// Rows (samples of all sites) × classes.
  const models::Matrix& delta(std::size_t head) const { return heads_[head].tape.value_gradients.back(); }
  /// x̄ of all sites, samples × in.
  const models::Matrix& inputs(std::size_t head) const { return heads_[head].tape.values.front(); }
  /// x̄ of the tangent of a block's value, or of any other like it.
  models::Matrix mean_over_positions(std::size_t head, const models::Matrix& value) const;

  /// rows × in × classes multiply-adds over a head's weights, in the group of its block's last matrix.
  step::Work product_work() const;
  /// Of a head, there.
  step::Expression parameters() const { return (step::extent::out() + 1.0) * classes_in_step_; }

  /// Sites sum the gradients Δᵀ x̄ of head `head`, in the group of its block's last matrix.
  Pending<models::Matrix> sum(TrainingStep& step, std::size_t head);
  /// A step of the optimizer with a gradient, classes × (in + 1), biases last.
  void learn(TrainingStep& step, std::size_t head, const models::Matrix& gradient);

 private:
  struct LocalHead {
    LayerBlock block;
    Eigen::Index channels = 0;
    std::unique_ptr<models::Network> network;  // where the optimizer finds it again
    std::unique_ptr<models::Optimizer> optimizer;
    models::Tape tape;
  };
  std::vector<LocalHead> heads_;
  std::int64_t classes_ = 0;
  step::Expression classes_in_step_;
};

/// Learning without a backward pass (Ren, Kornblith, Liao, Hinton, Scaling Forward Gradient With Local Losses, ICLR
/// 2023, arXiv 2210.03310). One pass of forward-mode differentiation beside the forward pass gives the derivative c of
/// the loss along a random direction, and c times that direction is the gradient in the mean.
///
/// *Weights* move along v ~ N(0, 1), one v for all samples of a site: g = c v. *Pre-activations* move along u ~ N(0,
/// 1), another one for every sample i: dW = Σ_i (c_i u_i) x_iᵀ; where a ReLU is off u counts as zero. The output layer
/// needs no direction: its gradient is that of one layer.
///
/// With local losses every block learns from a linear classifier at its own end, and no tangent enters it. With groups
/// a loss has as many copies of the same value: copy g is differentiated along the channels of group g alone (the
/// replicated aggregator of section 3), so that c has one number per group.
///
/// Gains and shifts of norms stay as they are: from its counts of parameters the paper's norms have none.
class ForwardGradient final : public Algorithm {
 public:
  enum class Perturb { activity, weight };
  struct Options {
    Perturb perturb = Perturb::activity;
    bool local = false;
    std::int64_t blocks = 0;  ///< 0: as many as there can be
    std::int64_t groups = 1;
    std::int64_t directions = 1;
    bool compact = false;  ///< what gradients are made of is sent instead of them
  };
  explicit ForwardGradient(const Options& options) : options_(options) {}

  void run(TrainingStep& step) override;

  /// Of the blocks below the last; null before the first step.
  const LocalHeads* heads() const { return heads_.get(); }

 private:
  /// c: per block, samples of all sites × groups.
  using Derivatives = std::vector<models::Matrix>;
  /// Of the losses of all blocks along one direction, whose part at matrix l `add` adds to its Ż. `output`: the matrix
  /// at the end of a block moves too, in the copy of the loss that belongs to group 0.
  Derivatives differentiate(TrainingStep& step, const models::DirectionOf<float>& direction, bool output) const;
  void charge_differentiation(TrainingStep& step) const;
  /// Whether matrix l has its gradient from its own Δ.
  bool is_output(const TrainingStep& step, std::size_t l) const { return l + 1 == step.layers(); }
  std::size_t block_of(std::size_t l) const;

  void perturb_activities(TrainingStep& step);
  void perturb_weights(TrainingStep& step);
  /// Sums of what sites have in the place of A and Δ, or of gradients formed by `of`.
  void share_gradients(TrainingStep& step, const std::function<TrainingStep::GradientOfSite(std::size_t l)>& of);
  void share_factors(TrainingStep& step);
  void share_seeds(TrainingStep& step, const std::vector<std::uint64_t>& seeds, const models::Matrix& scalars);
  /// Calls `body` for the head behind matrix l, if there is one.
  void heads_behind(std::size_t l, const std::function<void(std::size_t head)>& body) const;
  /// Adds Σ_k c_k v_k ÷ directions for a matrix; `scalars` has blocks × groups of c for each k. `output`: group 0 moves
  /// all of it.
  void add_directions(std::uint64_t seed, std::size_t matrix, std::size_t block, bool output,
                      models::ConstBlock scalars, models::LayerGradient& sum) const;
  void charge_directions(TrainingStep& step, const step::Expression& parameters, double sites) const;

  Options options_;
  std::vector<LayerBlock> blocks_;
  std::unique_ptr<LocalHeads> heads_;
};

}  // namespace dadsim::algorithms
