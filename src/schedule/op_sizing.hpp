#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "schedule/schedule.hpp"
#include "spec/layer_matrices.hpp"
#include "step/expression.hpp"

namespace dadsim::schedule {

/// Returns `sizes` with the samples multiplied by `scale`, at least one sample unless there were none. Throws
/// std::invalid_argument for a scale that is not positive.
step::StepSizes scale_samples(const step::StepSizes& sizes, double scale);

/// Computes the sizes of a recorded step's ops for layers of another network. Both networks and the sizes must outlive
/// it.
class OpSizing {
 public:
  OpSizing(const step::StepSizes& sizes, const spec::ModelShape& learned, const spec::ModelShape& timed,
           double sample_scale, spec::Precision precision);

  std::size_t workers() const { return sizes_.samples.size(); }
  /// Returns the bytes of a float ÷ 4 bytes of fp32.
  double narrower() const { return narrower_; }

  /// Sets the learned layer, by position in the learned network, whose recorded results the following calls use; −1:
  /// none.
  void stand_for(std::int32_t learned);
  /// Returns a computation or a collective with its sizes as numbers, summed over these layers.
  Task sized(const step::Op& op, const std::vector<const spec::LayerShape*>& layers) const;

 private:
  /// Returns the bytes on the wire; floats are as wide as in memory.
  double wire_bytes(const step::Payload& payload, const step::Scope& scope) const;
  double evaluate(const step::Expression& expression, const std::vector<const spec::LayerShape*>& layers,
                  std::int32_t worker) const;
  /// Returns the sum over the matrices of these layers; a layer with experts or an adapter has several.
  template <class Value>
  double over_matrices(const std::vector<const spec::LayerShape*>& layers, std::int32_t worker, Value&& value) const;
  step::Scope scope_of(const spec::LayerShape* layer, std::int32_t worker) const;
  const step::Work& cheapest(const step::ComputeOp& op, const std::vector<const spec::LayerShape*>& layers,
                             std::int32_t worker) const;
  double frozen_bytes(step::Phase phase, const std::vector<const spec::LayerShape*>& layers) const;
  /// Returns classes of workers with equal recorded samples and numbers, for which all sizes of an op are equal.
  const step::WorkerClasses& classes_of(const step::Op& op) const;
  /// Evaluates a size once per class of workers.
  template <class Value>
  PerWorker per_participant(step::Role who, Value&& value) const;

  const spec::ModelShape& learned_;
  const step::StepSizes& recorded_;
  step::StepSizes sizes_;
  double narrower_;
  std::map<const spec::LayerShape*, spec::DeltaRelations> deltas_;
  mutable std::map<const spec::LayerShape*, std::vector<spec::EqualMatrices>>
      matrices_;  ///< matrices of layers with other than one matrix
  /// Sums over workers, computed once per op and layer, because they are equal for all workers.
  mutable std::map<const spec::LayerShape*, step::KnownSums> sums_;
  mutable std::map<step::Numbers, step::WorkerClasses> classes_by_;
  mutable std::map<const step::Op*, const step::WorkerClasses*> classes_of_op_;
  mutable const step::WorkerClasses* classes_ = nullptr;  ///< classes of the current op
  step::LearnedLayer stand_in_;  ///< learned counterpart of the current layer; null without a layer
  step::KnownSums learned_sums_;
};

}  // namespace dadsim::schedule
