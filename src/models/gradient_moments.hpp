#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/kernels/array_kernels.hpp"
#include "models/optimizer.hpp"
#include "spec/specification.hpp"

namespace dadsim::models {

/// Running means of gradients and of their squares, for optimizers like Adam:
///   m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²      (both start at 0)
/// and the number of their steps, for the bias correction. Optimizers write m and v themselves.
class GradientMoments {
 public:
  explicit GradientMoments(const Network& network);

  /// Begins a step with this gradient. The step does not count for frozen matrices.
  void begin_step(const Gradient& gradient);
  /// Bias correction of the moments of matrix l, 1 − β₁ᵗ and 1 − β₂ᵗ; for l after the last matrix, of all vectors.
  struct MomentCorrection {
    double first, second;
  };
  MomentCorrection correction(std::size_t l, const spec::OptimizerSpec& spec) const;

  std::size_t matrices() const { return frozen_.size(); }
  Eigen::ArrayXf& first(std::size_t l) { return first_[l]; }    ///< m, shaped like zeros_like_parameters()
  Eigen::ArrayXf& second(std::size_t l) { return second_[l]; }  ///< v, shaped like zeros_like_parameters()

  std::vector<float> state() const;  ///< t (exact up to 2²⁴), m, v
  /// Restores a state(). Throws std::logic_error for the state of another network.
  void set_state(std::span<const float> numbers);

 private:
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> frozen_;  ///< number of steps in which each matrix was frozen; not part of state()
  std::vector<Eigen::ArrayXf> first_, second_;
};

/// An optimizer that keeps both moments.
class MomentsOptimizer : public Optimizer {
 public:
  MomentsOptimizer(const spec::OptimizerSpec& spec, const Network& network) : spec_(spec), moments_(network) {}
  std::vector<float> state() const override { return moments_.state(); }
  void set_state(std::span<const float> numbers) override { moments_.set_state(numbers); }

 protected:
  /// Returns the constants of a step of matrix l, or of all vectors for l after the last matrix. The rate is η/(1 −
  /// β₁ᵗ), the scale 1/√(1 − β₂ᵗ).
  AdamStep adam_step(std::size_t l, double learning_rate) const;

  spec::OptimizerSpec spec_;
  GradientMoments moments_;
};

}  // namespace dadsim::models
