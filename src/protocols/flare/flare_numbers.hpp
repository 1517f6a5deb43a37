#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocols/learning.hpp"

namespace dadsim::protocols {

/// The distance of Kolmogorov and Smirnov between two samples: sup |F_a − F_b|, equal values of both taken together.
/// Both rising; neither empty.
double ks_distance(std::span<const double> a, std::span<const double> b);
/// What it exceeds with a probability of about `level` where both samples are of one distribution (asymptotic,
/// two-sided): √(−½ ln(level ÷ 2)) √((m + n) ÷ (m n)). Where the distribution has steps, with a smaller one.
double ks_threshold(std::size_t m, std::size_t n, double level);
/// `count` quantiles at (k + ½) ÷ count, or the values themselves where there are no more; rising.
std::vector<double> quantiles(std::vector<double> values, std::size_t count);

/// The mathematics of FLARE's client and sensors: rows are samples of the training set, drifted ones among them.
class FlareNumbers {
 public:
  explicit FlareNumbers(Learning& learning) : learning_(learning) {}

  /// Rows of one tick of training, as many as `steps` batches hold: drawn out of `pool`, each with the same chance.
  std::vector<std::int32_t> draw(const std::vector<std::int32_t>& pool, std::int64_t first, std::int64_t steps) const;
  /// Weights with the optimizer's state after a batch of these rows at a time.
  world::Value train(const world::Value& weights_with_state, std::vector<std::int32_t> rows, std::int64_t first);
  /// Scalars: the mean loss over the rows, then for each the largest probability that the softmax gives (of samples
  /// with many labels: the mean over these).
  world::Value look(const world::Value& weights_with_state, std::vector<std::int32_t> rows);

  double loss(const world::Value& weights_with_state, std::vector<std::int32_t> rows) {
    return learning_.history().get(look(weights_with_state, std::move(rows)))->scalars.front();
  }
  /// Rising.
  std::vector<double> confidences(const world::Value& weights_with_state, std::vector<std::int32_t> rows);

 private:
  Learning& learning_;
};

}  // namespace dadsim::protocols
