#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/exchange/observer.hpp"

namespace dadsim::algorithms {

/// Labels of a batch inferred from messages of the last matrix. Under softmax and cross-entropy its Δ is negative at
/// the label only. Rows of Δ reveal each label; a gradient, of biases or summed over each row of the matrix (inputs
/// after a ReLU are not negative), reveals the classes present (iDLG, arXiv 2001.02610).
class RevealedLabels {
 public:
  /// `inputs`: p of the last matrix.
  explicit RevealedLabels(Eigen::Index inputs) : in_(inputs) {}

  void add(const SeenMatrix& seen);

  /// Returns the share inferred correctly: of labels from rows of Δ, otherwise of classes, present or absent. NaN if
  /// nothing is inferred.
  double share(std::span<const std::int32_t> labels) const;

 private:
  /// Returns the label per row (−1: not revealed); empty if the rows are not rows of Δ.
  std::vector<std::int32_t> told_by_rows() const;
  /// Returns a number per class, negative if the class is present; empty: no message reveals classes.
  models::Vector presences() const;

  Eigen::Index in_;
  models::Matrix rows_, inputs_;  ///< Δ, k × q, and the inputs, k × p or k × (p + 1)
  models::Matrix biases_, gradient_;
};

}  // namespace dadsim::algorithms
