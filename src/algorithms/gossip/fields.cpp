#include "algorithms/gossip/fields.hpp"

#include <cmath>

#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

/// Calls `body(block, site)` for every block of every site, sites in parallel.
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

std::vector<std::vector<KeptEntries>> largest_news(OwnWeightsStep& step, const Field& news, double fraction,
                                                   double each) {
  // Counts radix selection in four passes, and one pass that writes the kept entries, as in largest_entries.cpp.
  step.charge(step::Phase::factorise, {.flops = 5 * each, .floats = 5 * each, .launches = 5 * each});
  const std::size_t rows = news.front().size();
  std::vector<std::vector<KeptEntries>> chosen(step.matrices(), std::vector<KeptEntries>(rows));
  parallel_for(rows, [&](std::size_t i) {
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
