#include "algorithms/gossip/fields.hpp"

#include <cmath>

#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

/// Calls `body(block, site)` for all, sites at the same time.
template <class Body>
void for_all_sites(const OwnWeightsStep& step, const Body& body) {
  parallel_for(step.sites(), [&](std::size_t i) {
    for (std::size_t b = 0; b < step.blocks(); ++b) body(b, i);
  });
}

}  // namespace

Field combine(OwnWeightsStep& step, const std::vector<FieldTerm>& terms) {
  const auto count = static_cast<double>(terms.size());
  step.charge(step::Phase::add, {.flops = 2 * count - 1, .floats = count + 1, .launches = 1});
  Field sum = *terms.front().field;
  for_all_sites(step, [&](std::size_t b, std::size_t i) {
    sum[b][i] *= terms.front().factor;
    for (std::size_t k = 1; k < terms.size(); ++k) sum[b][i] += terms[k].factor * (*terms[k].field)[b][i];
  });
  return sum;
}

void move_towards_known(OwnWeightsStep& step, Field& x, const Field& known, double gamma) {
  step.charge(step::Phase::add, {.flops = 3, .floats = 4, .launches = 1});
  const auto& weights = step.round().mixing.from;
  for_all_sites(step, [&](std::size_t b, std::size_t i) {
    std::vector<gossip::Weighed<float>> others;
    for (const auto& [j, weight] : weights[i]) others.push_back({weight, &known[b][static_cast<std::size_t>(j)]});
    gossip::pull(x[b][i], known[b][i], others, gamma);
  });
}

void take_shares(OwnWeightsStep& step, Field& x) {
  step.charge(step::Phase::add, {.flops = 1, .floats = 2, .launches = 1});
  const std::vector<double>& shares = step.round().shares;
  for_all_sites(step, [&](std::size_t b, std::size_t i) { x[b][i] *= static_cast<float>(shares[i]); });
}

Field divided(OwnWeightsStep& step, const Field& x, const std::vector<models::Matrix>& w) {
  step.charge(step::Phase::add, {.flops = 1, .floats = 2, .launches = 1});
  Field z = x;
  for_all_sites(step, [&](std::size_t b, std::size_t i) { z[b][i] /= w[i](0); });
  return z;
}

Field divided(OwnWeightsStep& step, const Field& x, const Field& w) {
  step.charge(step::Phase::add, {.flops = 1, .floats = 3, .launches = 1});
  Field z = x;
  for_all_sites(step, [&](std::size_t b, std::size_t i) { z[b][i].array() /= w[b][i].array(); });
  return z;
}

std::vector<std::vector<Kept>> largest_news(OwnWeightsStep& step, const Field& news, double fraction) {
  // A radix selection of four passes, and one that writes what is kept, as in largest_entries.cpp.
  step.charge(step::Phase::factorise, {.flops = 5, .floats = 5, .launches = 5});
  std::vector<std::vector<Kept>> chosen(step.matrices(), std::vector<Kept>(step.sites()));
  parallel_for(step.sites(), [&](std::size_t i) {
    for (std::size_t b = 0; b < step.matrices(); ++b) {
      models::Matrix row = news[b][i];
      chosen[b][i] = take_largest(row, kept_of_block(fraction, row.size()));
    }
  });
  return chosen;
}

step::Expression kept_of_block(double fraction) {
  return step::extent::ceil(std::round(fraction * 1e9) / 1e9 * step::extent::parameters());
}

Eigen::Index kept_of_block(double fraction, Eigen::Index numbers) {
  return static_cast<Eigen::Index>(step::kept_entries(fraction, numbers, 1));
}

}  // namespace dadsim::algorithms
