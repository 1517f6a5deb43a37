#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/metrics.hpp"
#include "models/network.hpp"

// Maps the values of a shifted test batch to the distribution of the training data, unit by unit, without training. In
// the spirit of Distribution Mismatch Correction (Fuchs, Knoll & Pernkopf, arXiv 2110.01955); only its abstract could
// be read: "adapts the activation distribution so that its Wasserstein distance to that of training is smallest".
// Assumptions: K quantiles represent a distribution; the layers that are corrected. In one dimension, the transport map
// with the least cost is the monotone rearrangement Q_source(F_test(z)) (Villani, Topics in Optimal Transportation,
// 2003, section 2.2).

namespace dadsim::models {

/// Quantiles of some units at (k + ½) ÷ K, k = 0 … K − 1.
struct UnitQuantiles {
  Matrix values;  ///< K × units; every column ascends
};

/// Returns the quantiles of each column of `rows` (rows × units), linear between order statistics at (i + ½) ÷ rows
/// (Hazen). Throws std::logic_error without rows or with fewer than two quantiles.
UnitQuantiles quantiles_of(const Eigen::Ref<const Matrix>& rows, std::int64_t count);

/// Returns the mean of the quantiles of several sites: in one dimension the barycentre of their distributions in
/// Wasserstein's distance of order 2 (Agueh & Carlier, SIAM J. Math. Anal. 43, 2011). The mean is a sum over sites,
/// which one all-reduce computes.
UnitQuantiles barycentre(std::span<const UnitQuantiles> sites);

/// Applies z ← Q_source(F_test(z)) to every column of `rows`. The map is linear between quantiles, and continues
/// outside with the outermost slope, at most 1. Equal quantiles of `test` map to the mean of their counterparts in
/// `source`.
void correct(const UnitQuantiles& source, const UnitQuantiles& test, MutableRowsOf<float> rows);

/// Quantiles of the training data at inputs and inside a network, stored with the model.
struct SourceQuantiles {
  UnitQuantiles inputs;              ///< quantiles of each feature
  std::vector<UnitQuantiles> norms;  ///< quantiles of each channel that a batch norm reads, over samples and positions

  /// Returns the bytes sent with a model: four per quantile.
  double bytes() const;
};
SourceQuantiles source_quantiles(const Network& network, const Matrix& features, std::int64_t count);

/// Correction of a test batch.
enum class Correction : std::uint8_t {
  source,            ///< none: batch norms use the running statistics of training
  batch_statistics,  ///< batch norms use the batch's own statistics (test-time normalisation, Nado et al., arXiv
                     ///< 2006.10963)
  norms,             ///< corrects the inputs of batch norms, from the first norm to the last
  inputs,            ///< corrects the features
  inputs_and_norms,
};

/// Returns the quality for test samples that arrive in batches of `batch`, in their order; a remainder joins the last
/// batch. Other operations that read a batch norm's input also read the corrected value.
Quality evaluate_corrected(const Network& network, const Samples& samples, std::int64_t batch, Correction correction,
                           const SourceQuantiles& source);

}  // namespace dadsim::models
