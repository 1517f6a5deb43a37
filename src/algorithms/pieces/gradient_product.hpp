#pragma once

#include <algorithm>

#include "algorithms/pieces/factorise.hpp"
#include "models/gemm/work_count.hpp"

namespace dadsim::algorithms {

/// The largest magnitude, or 1 where there is none: what a matrix is divided by so that squares of its entries neither
/// vanish nor overflow in fp32.
inline float magnitude_of(const models::ConstBlock& matrix) {
  const float largest = matrix.size() > 0 ? matrix.cwiseAbs().maxCoeff() : 0.0F;
  return largest > 0 ? largest : 1.0F;
}

/// M = Δᵀ A (out × in) and M Mᵀ as operators, with M scaled to the order of 1.
class GradientProduct {
 public:
  GradientProduct(const models::ConstBlock& delta, const models::ConstBlock& input, FactoriseBranch branch)
      : in_(input.cols()),
        out_(delta.cols()),
        most_(std::min({delta.rows(), in_, out_})),
        scale_(magnitude_of(delta) * magnitude_of(input)),
        delta_(delta / magnitude_of(delta)),
        input_(input / magnitude_of(input)),
        branch_(branch) {
    if (branch_ == FactoriseBranch::gram) {
      models::Matrix gram(input.rows(), input.rows());
      gram.noalias() = models::counted(input_ * input_.transpose());
      left_.noalias() = models::counted(gram * delta_);  // (A Aᵀ) Δ: rows × out
    } else {
      product_.noalias() = models::counted(delta_.transpose() * input_);
      left_.noalias() = models::counted(product_ * product_.transpose());  // M Mᵀ: out × out
    }
  }

  /// Of M as it is.
  explicit GradientProduct(const models::Matrix& matrix)
      : in_(matrix.cols()),
        out_(matrix.rows()),
        most_(std::min(in_, out_)),
        scale_(magnitude_of(matrix)),
        branch_(FactoriseBranch::explicit_),
        product_(matrix / scale_) {
    left_.noalias() = models::counted(product_ * product_.transpose());
  }

  Eigen::Index in() const { return in_; }
  Eigen::Index out() const { return out_; }
  /// Components that M has at most.
  Eigen::Index most() const { return most_; }

  /// What M was divided by.
  float scale() const { return scale_; }

  /// M Mᵀ v
  models::Vector apply_gram(const models::Vector& v) const {
    if (branch_ == FactoriseBranch::gram) {
      const models::Vector u = models::counted(delta_ * v);
      return models::counted(left_.transpose() * u);
    }
    return models::counted(left_ * v);
  }

  /// Mᵀ v
  models::Vector apply_transpose(const models::Vector& v) const {
    if (branch_ == FactoriseBranch::gram) {
      const models::Vector u = models::counted(delta_ * v);
      return models::counted(input_.transpose() * u);
    }
    return models::counted(product_.transpose() * v);
  }

 private:
  Eigen::Index in_, out_, most_;
  float scale_;
  models::Matrix delta_;
  models::Matrix input_;
  FactoriseBranch branch_;
  models::Matrix left_;
  models::Matrix product_;
};

}  // namespace dadsim::algorithms
