#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "algorithms/training_step.hpp"

// The largest entries of gradients as lists of values and indices: each piece that takes a step computes and records
// what that costs.

namespace dadsim::algorithms {

/// The `count` entries of a matrix with the largest magnitudes (among equals those that come first), in the order in
/// which they lie in it.
struct Kept {
  models::Matrix values;              ///< count × 1
  std::vector<std::int32_t> indices;  ///< row · columns + column
};

/// Takes them out: zeros stay behind.
Kept take_largest(models::Matrix& matrix, Eigen::Index count);

/// Adds them to a matrix of the same shape.
void add_kept(const models::Matrix& values, std::span<const std::int32_t> indices, models::Matrix& sum);

/// M_s = G_s + E_s, and its largest entries, per site; E_s stays behind in the memory. Biases are no part of it: those
/// of the memory are the site's own afterwards.
std::vector<Kept> take_largest_of_sites(TrainingStep& step, std::size_t l, double fraction,
                                        std::vector<models::LayerGradient>& memory);

/// Σ_s C_s from the lists of all sites.
models::Matrix sum_of_lists(TrainingStep& step, std::size_t l, double fraction, const Rows& lists);

}  // namespace dadsim::algorithms
