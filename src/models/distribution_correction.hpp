#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/metrics.hpp"
#include "models/network.hpp"

// Making the values of a shifted test batch distributed as those of the training data, unit by unit, without training:
// in the spirit of Distribution Mismatch Correction (Fuchs, Knoll & Pernkopf, arXiv 2110.01955), of which the abstract
// alone was there to be read: "adapts the activation distribution so that its Wasserstein distance to that of training
// is smallest". That K quantiles stand for a distribution, and where it is done, is assumed. In one dimension the map
// that carries one distribution into another and moves least is the monotone rearrangement Q_source(F_test(z))
// (Villani, Topics in Optimal Transportation, 2003, section 2.2).

namespace dadsim::models {

/// Quantiles of some units at (k + ½) ÷ K, k = 0 … K − 1.
struct UnitQuantiles {
  Matrix values;  ///< K × units; every column rises
};

/// Of each column of `rows` (rows × units), linear between order statistics, which stand at (i + ½) ÷ rows (Hazen).
/// Throws std::logic_error without rows or with fewer than two quantiles.
UnitQuantiles quantiles_of(const Eigen::Ref<const Matrix>& rows, std::int64_t count);

/// The mean of the quantiles of several sites: the barycentre of their distributions in Wasserstein's distance of order
/// 2, in one dimension (Agueh & Carlier, SIAM J. Math. Anal. 43, 2011). Sums over sites; one all-reduce gives it.
UnitQuantiles barycentre(std::span<const UnitQuantiles> sites);

/// z ← Q_source(F_test(z)) for every column of `rows`, linear between quantiles, and beyond the outermost ones with the
/// slope there, 1 at most. Where quantiles of `test` coincide, the mean of those of `source` takes their place.
void correct(const UnitQuantiles& source, const UnitQuantiles& test, MutableRowsOf<float> rows);

/// Quantiles of the training data inside a network, kept with the model.
struct SourceQuantiles {
  UnitQuantiles inputs;              ///< of each feature
  std::vector<UnitQuantiles> norms;  ///< of each channel that a batch norm reads, over samples and positions

  /// What travels with a model: four bytes for every quantile.
  double bytes() const;
};
SourceQuantiles source_quantiles(const Network& network, const Matrix& features, std::int64_t count);

/// How a test batch is corrected.
enum class Correction : std::uint8_t {
  source,            ///< nothing: running statistics of training
  batch_statistics,  ///< batch norms take the batch's own (test-time normalisation, Nado et al., arXiv 2006.10963)
  norms,             ///< the quantiles of what batch norms read, from the first norm to the last
  inputs,            ///< the quantiles of the features
  inputs_and_norms,
};

/// Quality where test samples come `batch` at a time, in their order; what is left over joins the last batch. A value
/// that a batch norm reads beside others is corrected for those too.
Quality evaluate_corrected(const Network& network, const Samples& samples, std::int64_t batch, Correction correction,
                           const SourceQuantiles& source);

}  // namespace dadsim::models
