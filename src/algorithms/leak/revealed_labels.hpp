#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/exchange/observer.hpp"

namespace dadsim::algorithms {

/// What follows of a batch's labels from messages of the last matrix, whose Δ under softmax and cross-entropy is
/// negative at the label and nowhere else. Rows of Δ tell each label; a gradient, of biases or summed over each row of
/// the matrix (inputs behind a ReLU are not negative), tells which classes are there (iDLG, arXiv 2001.02610).
class RevealedLabels {
 public:
  /// `inputs`: p of the last matrix.
  explicit RevealedLabels(Eigen::Index inputs) : in_(inputs) {}

  void add(const SeenMatrix& seen);

  /// The share that is told right: of labels, where rows are rows of Δ, else of classes, there or not. Not a number
  /// where nothing is told.
  double share(std::span<const std::int32_t> labels) const;

 private:
  /// Per row its label (−1: it does not say); empty where some row is none of Δ.
  std::vector<std::int32_t> told_by_rows() const;
  /// Per class, what is negative where it is there; empty: nothing tells it.
  models::Vector presences() const;

  Eigen::Index in_;
  models::Matrix rows_, inputs_;  ///< k × q, and beside them k × p or k × (p + 1)
  models::Matrix biases_, gradient_;
};

}  // namespace dadsim::algorithms
