#pragma once

#include <map>
#include <vector>

#include "algorithms/leak/revealed_span.hpp"

namespace dadsim::algorithms {

/// How much of the rows of one site spans show, one by one and several together. What readers share is worked out once:
/// the rows in the coordinates of each span. Several exact spans are read without a basis of their union: with B the
/// largest and E the rows of the others less what B holds of them, ‖row P‖² = ‖row Bᵀ‖² + row Eᵀ (E Eᵀ)⁺ E rowᵀ, and E
/// enters by its products alone.
class SpanReader {
 public:
  /// `rows`: each less the mean row of the site.
  SpanReader(models::Matrix rows, const models::Vector& mean);

  /// Per group of `per_group` rows: Σ ‖row P‖² and Σ ‖row‖², P projecting onto what all of `spans` (one at least, which
  /// stay where they are) and the mean row hold.
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
