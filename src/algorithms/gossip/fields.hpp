#pragma once

#include <vector>

#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/pieces/largest_entries.hpp"

// Operations of decentralised algorithms on the numbers of all sites: each computes its result and records its cost.

namespace dadsim::algorithms {

/// One term of Σ_k factor_k · field_k, at every site.
struct FieldTerm {
  float factor = 1;
  const Field* field = nullptr;
};
Field combine(OwnWeightsStep& step, const std::vector<FieldTerm>& terms);

/// Scales x_i ← p_ii x_i, with p_ii the push-sum share that a site keeps; it sends as much to each receiver.
void take_shares(OwnWeightsStep& step, Field& x);

/// Returns x_i / w_i, with w_i one number per site (1 × 1) or one per entry.
Field divided(OwnWeightsStep& step, const Field& x, const std::vector<models::Matrix>& w);
Field divided(OwnWeightsStep& step, const Field& x, const Field& w);

/// Returns the ⌈fraction · parameters⌉ largest entries of x − x̂, per row of `news`, for every matrix with its biases.
/// Charges a site for `each` rows.
std::vector<std::vector<KeptEntries>> largest_news(OwnWeightsStep& step, const Field& news, double fraction,
                                                   double each);
/// Returns the number of entries that largest_news() keeps of a block, as an expression or as a number. The fraction is
/// rounded to nine decimals.
step::Expression kept_of_block(double fraction);
Eigen::Index kept_of_block(double fraction, Eigen::Index numbers);

}  // namespace dadsim::algorithms
