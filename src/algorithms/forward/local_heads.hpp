#pragma once

#include <memory>
#include <vector>

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
  LocalHeads(const models::Network& network, std::vector<Block> blocks, std::uint64_t seed);

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
  struct Head {
    Block block;
    Eigen::Index channels = 0;
    std::unique_ptr<models::Network> network;  // where the optimizer finds it again
    std::unique_ptr<models::Optimizer> optimizer;
    models::Tape tape;
  };
  std::vector<Head> heads_;
  std::int64_t classes_ = 0;
  step::Expression classes_in_step_;
};

}  // namespace dadsim::algorithms
