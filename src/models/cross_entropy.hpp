#pragma once

#include <cstdint>
#include <span>

#include "models/operation.hpp"

namespace dadsim::models {

/// Softmax cross-entropy of logits (rows × K classes), a label per row: the sum over rows ÷ total_rows, and into
/// `gradient` its derivative by each logit. `weights`, if not empty, has a factor per row. With label smoothing ε, from
/// 0 to below 1, the target of a row is 1 − ε on its label and ε ÷ K on each of the K classes (Szegedy et al., arXiv
/// 1512.00567, section 7):
///     loss = −Σ_k target_k log p_k, with p the softmax of the row;    gradient = (p − target) ÷ total_rows.
/// Throws std::logic_error for labels that do not fit the logits, and for total_rows or ε out of range.
template <class T>
T cross_entropy(RowsOf<T> logits, std::span<const std::int32_t> labels, T total_rows, std::span<const T> weights,
                T label_smoothing, MutableRowsOf<T> gradient);

}  // namespace dadsim::models
