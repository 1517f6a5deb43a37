#pragma once

#include <cstdint>
#include <vector>

#include "algorithms/pieces/shared_factors.hpp"
#include "algorithms/step/training_step.hpp"

// Operations on A and Δ of a layer in flexible sharing, over one step or several: each computes and records its cost.

namespace dadsim::algorithms {

/// A and Δ of one layer at every site, over the steps since they were last shared. The layer's weights stay until then,
/// so that rows of several steps are rows of one batch.
class RowsOfSteps {
 public:
  /// Appends this step's rows.
  void add(TrainingStep& step, std::size_t l);
  /// Returns all rows, to be shared in this step. This step's rows must have been added last. The result refers to this
  /// object.
  SiteRows take(TrainingStep& step);
  void clear() { sites_.clear(), earlier_.clear(); }

 private:
  struct SiteRowsOfLayer {
    models::Matrix inputs, deltas;
  };
  std::vector<SiteRowsOfLayer> sites_;
  std::vector<std::int32_t> earlier_, last_;  ///< samples per site: in the steps before the last, and in the last
};

/// The gradients of one layer at every site, over the steps since they were last shared.
class GradientsOfSteps {
 public:
  /// Adds this step's gradients.
  void add(TrainingStep& step, std::size_t l, const TrainingStep::GradientOfSite& own);
  /// Returns a function that adds one site's gradients of all steps to a sum.
  TrainingStep::GradientOfSite sum() const;
  void clear() { sites_.clear(); }

 private:
  std::vector<models::LayerGradient> sites_;
};

/// Sends A, and with `with_deltas` also Δ: every site receives the rows of all sites.
Pending<Rows> share_rows(TrainingStep& step, const SiteRows& own, bool with_deltas);

/// Replaces the Δ of layer l at every site by the mean over sites, row by row; the passes wait for the mean. Sites must
/// have equally many rows, and separate networks.
void average_deltas(TrainingStep& step, std::size_t l);

/// Returns Δ̂ᵀ Â; `rows` of all sites, in symbols.
models::LayerGradient gradient_of_rows(TrainingStep& step, std::size_t l, const models::Matrix& deltas,
                                       const models::Matrix& inputs, const step::Expression& rows);

/// Returns Δ̂_l W_l: the gradient with respect to the outputs of layer l − 1.
models::Matrix pass_down(TrainingStep& step, std::size_t l, const models::Matrix& deltas, const step::Expression& rows);

/// Turns the gradient with respect to the outputs of layer l into Δ̂_l in place, by ⊙ φ'. φ' follows from the outputs
/// if φ allows it, otherwise from Z = Â Wᵀ + b.
void recompute_delta(TrainingStep& step, std::size_t l, const models::Matrix& inputs, const models::Matrix& outputs,
                     const step::Expression& rows, models::Matrix& delta);

}  // namespace dadsim::algorithms
