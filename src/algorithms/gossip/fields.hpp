#pragma once

#include <vector>

#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/pieces/largest_entries.hpp"

// Operations of decentralised algorithms on the numbers of all sites: each piece computes and records what it costs.

namespace dadsim::algorithms {

/// Σ_k factor_k · field_k, at every site.
struct FieldTerm {
  float factor = 1;
  const Field* field = nullptr;
};
Field combine(OwnWeightsStep& step, const std::vector<FieldTerm>& terms);

/// x_i ← p_ii x_i: what a site keeps of push-sum, and hands to each of those it sends to.
void take_shares(OwnWeightsStep& step, Field& x);

/// x_i / w_i, w_i a number of each site (1 × 1) or one for each of its numbers.
Field divided(OwnWeightsStep& step, const Field& x, const std::vector<models::Matrix>& w);
Field divided(OwnWeightsStep& step, const Field& x, const Field& w);

/// Of every matrix with its biases, per row of `news`: the ⌈fraction · parameters⌉ entries of x − x̂ that are largest. A
/// site does it for `each` of its rows.
std::vector<std::vector<KeptEntries>> largest_news(OwnWeightsStep& step, const Field& news, double fraction,
                                                   double each);
/// How many these are, in symbols and as a number. The fraction counts to nine decimals.
step::Expression kept_of_block(double fraction);
Eigen::Index kept_of_block(double fraction, Eigen::Index numbers);

}  // namespace dadsim::algorithms
