#pragma once

#include <map>
#include <vector>

#include "algorithms/leak/revealed_span.hpp"

namespace dadsim::algorithms {

/// Measures how much spans reveal of one site's rows, individually and together. Readers share the rows' coordinates in
/// each span, computed once. Several exact spans are read without a basis of their union: with B the largest span and E
/// the rows of the others less their part in B, ‖row P‖² = ‖row Bᵀ‖² + row Eᵀ (E Eᵀ)⁺ E rowᵀ, and E enters only through
/// its products.
class SpanReader {
 public:
  /// `rows`: rows of the site, with its mean row subtracted.
  SpanReader(models::Matrix rows, const models::Vector& mean);

  /// Returns Σ ‖row P‖² and Σ ‖row‖² per group of `per_group` rows, P projecting onto the union of `spans` and the mean
  /// row. `spans` has at least one entry; they must stay in place.
  std::vector<RevealedSpan::Energy> energies(const std::vector<const RevealedSpan*>& spans, Eigen::Index per_group);

 private:
  const models::Matrix& coordinates(const RevealedSpan& span);
  void show_one(const RevealedSpan& span, std::vector<double>& shown);
  void show_several(const std::vector<const RevealedSpan*>& spans, std::vector<double>& shown);

  models::Matrix rows_;
  models::Vector mean_;
  std::map<const RevealedSpan*, models::Matrix> coordinates_;
};

}  // namespace dadsim::algorithms
