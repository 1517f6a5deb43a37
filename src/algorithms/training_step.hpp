#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/exchange.hpp"
#include "models/dataset.hpp"
#include "models/network.hpp"
#include "plan/step_recorder.hpp"

namespace dadsim {

/// Effective ranks of one step, per layer.
struct StepRanks {
  std::vector<double> site;  ///< mean over sites; empty if the algorithm has no ranks
  std::vector<double> merged;
};

/// One training step of all sites that share a network, as an algorithm sees it. The rows of all sites are stacked in
/// site order, so that one matrix product serves all; site s owns the rows [offset(s), offset(s) + rows(s)). What a
/// piece computes for all sites at once is recorded as each site computing its own part.
///
/// An algorithm *requires* a batch that has been set; it *ensures* that gradient() holds, for every layer, the gradient
/// that all sites apply. It starts with forward() and works through the layers with backward().
class TrainingStep {
 public:
  TrainingStep(const Network& network, const ModelShape& shape, Topology topology, std::uint64_t seed);

  /// Sets the batch: per site, the indices of its rows in `samples` (a site may have none, not all of them).
  void begin(std::int64_t number, const Samples& samples, const std::vector<std::vector<std::int32_t>>& batch);

  std::size_t layers() const { return network_.layers(); }
  std::size_t sites() const { return offsets_.size() - 1; }
  Eigen::Index offset(std::size_t site) const { return offsets_[site]; }
  Eigen::Index rows(std::size_t site) const { return offsets_[site + 1] - offsets_[site]; }
  const Network& network() const { return network_; }
  std::uint64_t seed() const { return seed_; }
  std::int64_t number() const { return number_; }
  bool is_last(std::size_t layer) const { return layer + 1 == layers(); }

  /// Forward pass of all sites, and the Δ of the last layer. Δ is scaled by N_s ÷ ΣN: contributions of sites just add
  /// up.
  void forward();

  /// Calls `body(l)` for the layers from the last to the first; what it records belongs to layer l.
  void backward(const std::function<void(std::size_t layer)>& body);
  /// Calls `body()`; what it records belongs to the last layer alone.
  void at_last_layer(const std::function<void()>& body);

  // Pieces of the work: each computes for real and records what it costs.

  /// Δ_{l−1} from Δ_l, for every site its own rows.
  void propagate(std::size_t layer);
  /// Records that every site forms its own gradient of this layer.
  void record_weight_gradient();
  /// gradient()[l] += Δᵀ A of site s: the real numbers of what record_weight_gradient() charges.
  void add_weight_gradient(std::size_t site, std::size_t layer, LayerGradient& sum) const;
  /// Records any other computation.
  void compute(Phase phase, Role who, std::vector<Work> branches, bool except_first_layer = false,
               bool every_layer = false);

  /// A_{l−1}: the inputs of layer l at site s, rows(s) × in.
  ConstBlock input(std::size_t site, std::size_t layer) const;
  /// Δ_l at site s, rows(s) × out.
  ConstBlock delta(std::size_t site, std::size_t layer) const;
  /// The same of all sites, in site order.
  const Matrix& inputs(std::size_t layer) const { return tape_.activations[layer]; }
  const Matrix& deltas(std::size_t layer) const { return tape_.deltas[layer]; }

  Exchange& exchange() { return exchange_; }
  StepRecorder& recorder() { return recorder_; }
  Gradient& gradient() { return gradient_; }
  const Gradient& gradient() const { return gradient_; }
  StepRanks& ranks() { return ranks_; }
  float loss() const { return loss_; }

 private:
  const Network& network_;
  StepRecorder recorder_;
  Exchange exchange_;
  std::uint64_t seed_;
  std::int64_t number_ = 0;
  std::vector<std::int32_t> labels_;
  std::vector<Eigen::Index> offsets_{0};
  Tape tape_;
  Gradient gradient_;
  StepRanks ranks_;
  float loss_ = 0;
};

}  // namespace dadsim
