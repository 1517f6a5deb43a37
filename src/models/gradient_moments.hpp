#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/network.hpp"
#include "spec/specification.hpp"

namespace dadsim::models {

/// The running means of gradients and of their squares, of the optimizers of Adam's kind:
///   m ← β₁ m + (1 − β₁) g,   v ← β₂ v + (1 − β₂) g²      (both start at 0)
/// and the steps that they have had, which say how far they are from their start. Optimizers write m and v themselves.
class GradientMoments {
 public:
  explicit GradientMoments(const Network& network);

  /// A further step with this gradient; matrices that stay in it do not count it.
  void begin_step(const Gradient& gradient);
  /// 1 − β₁ᵗ and 1 − β₂ᵗ of matrix l, of all vectors where l is behind the last of them.
  struct MomentCorrection {
    double first, second;
  };
  MomentCorrection correction(std::size_t l, const spec::OptimizerSpec& spec) const;

  std::size_t matrices() const { return frozen_.size(); }
  Eigen::ArrayXf& first(std::size_t l) { return first_[l]; }    ///< m, as zeros_like_parameters()
  Eigen::ArrayXf& second(std::size_t l) { return second_[l]; }  ///< v, likewise

  std::vector<float> state() const;  ///< t (exact up to 2²⁴), m, v
  /// Throws std::logic_error for the state of something else.
  void set_state(std::span<const float> numbers);

 private:
  std::int64_t steps_ = 0;
  std::vector<std::int64_t> frozen_;  ///< per matrix: steps of these in which it stayed; no part of state()
  std::vector<Eigen::ArrayXf> first_, second_;
};

}  // namespace dadsim::models
