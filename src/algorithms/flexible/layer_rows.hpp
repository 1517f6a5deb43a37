#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/pieces/shared_factors.hpp"
#include "algorithms/step/training_step.hpp"

// A and Δ of a layer as a flexible schema shares them, of one step or of several: each piece computes and records what
// that costs.

namespace dadsim::algorithms {

/// A and Δ of one layer at every site, of the steps since they were last shared. Until then the layer's weights stay,
/// so that rows of several steps are rows of one batch.
class RowsOfSteps {
 public:
  /// Appends this step's rows.
  void add(TrainingStep& step, std::size_t l);
  /// All of them, to be shared in this step, which must be the last that was added. Refers to this object.
  SiteRows take(TrainingStep& step);
  /// Begins anew.
  void clear() { sites_.clear(), earlier_.clear(); }

 private:
  struct SiteRowsOfLayer {
    models::Matrix inputs, deltas;
  };
  std::vector<SiteRowsOfLayer> sites_;
  std::vector<std::int32_t> earlier_, last_;  ///< samples per site: of the steps before the last, and of the last
};

/// The gradients of one layer at every site, of the steps since they were last shared.
class GradientsOfSteps {
 public:
  /// Adds this step's gradients.
  void add(TrainingStep& step, std::size_t l, const TrainingStep::GradientOfSite& own);
  /// All of them, one site after the other.
  TrainingStep::GradientOfSite sum() const;
  /// Begins anew.
  void clear() { sites_.clear(); }

 private:
  std::vector<models::LayerGradient> sites_;
};

/// Hands over A, and with it Δ where `with_deltas`: all sites' rows are everyone's.
Pending<Rows> share_rows(TrainingStep& step, const SiteRows& own, bool with_deltas);

/// The Δ of layer l become, at every site, the mean over sites, row by row; the passes wait for it. Sites have as many
/// rows each, and networks of their own.
void average_deltas(TrainingStep& step, std::size_t l);

/// Δ̂ᵀ Â; `rows` of all sites, in symbols.
models::LayerGradient gradient_of_rows(TrainingStep& step, std::size_t l, const models::Matrix& deltas,
                                       const models::Matrix& inputs, const step::Expression& rows);

/// Δ̂_l W_l: what comes down to the outputs of layer l − 1.
models::Matrix pass_down(TrainingStep& step, std::size_t l, const models::Matrix& deltas, const step::Expression& rows);

/// Δ̂_l from what has come down to the outputs of layer l, in place: ⊙ φ', from the outputs where φ allows it, otherwise
/// from Z = Â Wᵀ + b.
void recompute_delta(TrainingStep& step, std::size_t l, const models::Matrix& inputs, const models::Matrix& outputs,
                     const step::Expression& rows, models::Matrix& delta);

}  // namespace dadsim::algorithms
