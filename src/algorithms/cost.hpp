#pragma once

#include <vector>

#include "spec/specification.hpp"
#include "step/step.hpp"

// Costs of the parts of a training step, as formulas in the layer's extents. A multiply-add counts as two flops. Bytes
// count every operand once, in fp32. Launches count kernels.

namespace dadsim::algorithms {

/// Returns the number of weights in a layer's matrix.
step::Expression weights_of_matrix();
/// Returns the number of a layer's parameters outside its matrix: biases.
step::Expression beside_matrix();

}  // namespace dadsim::algorithms

namespace dadsim::algorithms::cost {

inline constexpr double kFloatBytes = 4.0;  ///< bytes per number in memory

/// Rows of a pass: those of the worker, or those of all workers, which every worker then processes.
enum class Span { own_rows, all_rows };

/// Work of Z = A Wᵀ + b and φ(Z).
step::Work forward(Span span);
/// Work of softmax cross-entropy and its Δ.
step::Work loss();
/// Work of Δ_{l−1} = (Δ_l W_l) ⊙ φ'.
step::Work backpropagate(Span span);
/// Work of G = Δᵀ A and the column sums of Δ.
step::Work weight_gradient(Span span);
/// Work of G = Lᵀ R from factor pairs with `components` rows.
step::Work product_of_factors(const step::Expression& components);
/// Work of summing one gradient per worker, at the aggregator.
step::Work add_gradients(double workers);
/// Returns `work` if `condition` (0 or 1, in symbols of the layer) is 1, else no work.
step::Work only_where(const step::Expression& condition, const step::Work& work);
/// Returns the operations of one optimizer step in every layer: a pass over its numbers, and the products by which Muon
/// orthogonalises the steps of hidden matrices. `directions`: these steps are already orthogonal
/// (models::LayerGradient::is_direction).
std::vector<step::ComputeOp> update(const spec::OptimizerSpec& optimizer, bool directions = false);

}  // namespace dadsim::algorithms::cost
