#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "algorithms/cost.hpp"
#include "algorithms/exchange.hpp"
#include "models/data/dataset.hpp"
#include "models/network.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::algorithms {

/// Effective ranks of one step, per matrix that multiplies rows.
struct StepRanks {
  std::vector<double> site;  ///< mean over sites; empty if the algorithm has no ranks
  std::vector<double> merged;
};

/// One training step of all sites that share a network, as an algorithm sees it. The samples of all sites are stacked
/// in site order, so that one matrix product serves all; site s owns samples(s) of them. What a piece computes for all
/// sites at once is recorded as each site computing its own part.
///
/// Matrices are numbered in the order of the forward pass: 0 … layers() − 1 are those that multiply rows, whose
/// gradient is Δᵀ A; layers() … matrices() − 1 are the tables of embeddings, which only algorithms on gradients treat
/// like them. What is learned beside the matrices (norms, positions, tables unless the algorithm sees to them) is
/// summed over sites as it is, without the algorithm's doing.
///
/// An algorithm *requires* a batch that has been set; it *ensures* that gradient(l) holds, for every matrix that it
/// sees to, the gradient that all sites apply. It starts with forward() and works through the matrices with backward().
class TrainingStep {
 public:
  TrainingStep(const models::Network& network, spec::ExchangeMode mode, std::uint64_t seed,
               const spec::CompressSpec& compress = {});

  /// Sets the batch: per site, the indices of its samples (a site may have none, not all of them).
  void begin(std::int64_t number, const models::Samples& samples, const std::vector<std::vector<std::int32_t>>& batch);
  /// From now on each site's part of the loss, and so of every Δ, has a factor; empty: none has.
  void set_site_weights(std::vector<float> weights) { site_weights_ = std::move(weights); }
  /// Whether sites share a network, so that what is beside the matrices is summed.
  void set_sharing(bool sharing) { sharing_ = sharing; }
  /// Records the wait for what is beside the matrices; gradient() is complete after it.
  void finish();

  std::size_t layers() const { return layers_; }
  std::size_t matrices() const { return matrix_.size(); }
  bool is_embedding(std::size_t l) const { return l >= layers_; }
  const models::WeightsOf<float>& weights(std::size_t l) const { return network_.layer(matrix_[l]); }
  /// Where Δ_l follows from Δ_{l+1} alone: Δ_l = (Δ_{l+1} W_{l+1}) ⊙ φ', this is φ.
  std::optional<spec::Activation> chained(std::size_t l) const;
  std::size_t sites() const { return offsets_.size() - 1; }
  Eigen::Index samples(std::size_t site) const { return offsets_[site + 1] - offsets_[site]; }
  const models::Network& network() const { return network_; }
  std::uint64_t seed() const { return seed_; }
  std::int64_t number() const { return number_; }

  /// Forward pass of all sites, and the Δ of the last matrix. Δ is scaled by N_s ÷ ΣN: contributions of sites just add
  /// up.
  void forward();

  /// Calls `body(l)` for the matrices that multiply rows, from the last to the first; what it records belongs to l.
  void backward(const std::function<void(std::size_t l)>& body);
  /// Does the same with tables at their place among the matrices: the algorithm sees to their gradients.
  void backward_with_embeddings(const std::function<void(std::size_t l)>& body);
  /// Calls `body()`; what it records belongs to the last layer alone.
  void at_last_layer(const std::function<void()>& body);

  // Pieces of the work: each computes for real and records what it costs.

  /// On to Δ_{l−1} from Δ_l, for every site its own rows. The sweep in which matrix 0 is propagated is the backward
  /// pass.
  void backpropagate(std::size_t l);
  /// Ends the backward pass where the algorithm needs no Δ of the sites' own any more, and nothing is learned beside
  /// the matrices.
  void end_pass() { passed_ = true; }
  /// Every site forms its own gradient of matrix l, Δᵀ A over its rows. Nothing is held for it: what is returned adds
  /// the gradient of one site after the other to what it is given.
  using GradientOfSite = std::function<void(std::size_t site, models::LayerGradient& sum)>;
  GradientOfSite site_gradients(std::size_t l);
  /// gradient(l) = Δᵀ A over the rows of all sites: the sum of what every site forms.
  void form_gradient(std::size_t l);

  // Work over the rows that all sites have shared: every site does it alike.

  /// gradient(l) = Δ̂ᵀ Â.
  void form_gradient_of_rows(std::size_t l, const models::Matrix& deltas, const models::Matrix& inputs);
  /// Z = Â Wᵀ + b of matrix l.
  models::Matrix preactivations_of_rows(std::size_t l, spec::Activation activation, const models::Matrix& inputs);
  /// Δ̂_l W_l: what comes down to the outputs of matrix l − 1. There is nothing below matrix 0.
  models::Matrix backpropagate_rows(std::size_t l, const models::Matrix& deltas);

  /// Records what a computation costs. For the pieces that carry it out, here and in pieces/: an algorithm calls those.
  void charge(step::Phase phase, step::Role who, std::vector<step::Work> branches, bool except_first_layer = false,
              bool every_layer = false);

  /// A of matrix l at site s, rows × in.
  models::ConstBlock input(std::size_t site, std::size_t l) const;
  /// Δ of matrix l at site s, rows × out.
  models::ConstBlock delta(std::size_t site, std::size_t l) const;
  /// The A, and below it the Δ, of matrix l at all sites, in site order.
  models::RowsOf<float> inputs(std::size_t l) const { return network_.input(matrix_[l], tape_); }
  models::RowsOf<float> deltas(std::size_t l) const { return network_.delta(matrix_[l], tape_); }

  Exchange& exchange() { return exchange_; }
  step::StepRecorder& recorder() { return recorder_; }
  models::LayerGradient& gradient(std::size_t l) { return gradient_.matrices[matrix_[l]]; }
  const models::LayerGradient& gradient(std::size_t l) const { return gradient_.matrices[matrix_[l]]; }
  /// The gradient of everything that is learned, in the order of the network.
  const models::Gradient& gradient() const { return gradient_; }
  StepRanks& ranks() { return ranks_; }
  float loss() const { return loss_; }
  const models::Tape& tape() const { return tape_; }

 private:
  void sweep(bool embeddings, const std::function<void(std::size_t l)>& body);
  /// Takes the gradients of what is beside the matrices from the tape, and sends them.
  void add_gradient(std::size_t site, std::size_t l, models::LayerGradient& sum) const;
  void form_own_gradient(std::size_t l);
  void sum_the_rest(bool embeddings_seen_to);

  const models::Network& network_;
  std::vector<std::size_t> matrix_;  ///< number here → number in the network
  std::size_t layers_ = 0;
  step::StepRecorder recorder_;
  Exchange exchange_;
  std::uint64_t seed_;
  bool sharing_ = true;
  std::int64_t number_ = 0;
  std::vector<std::int32_t> labels_;
  std::vector<float> site_weights_;
  std::vector<Eigen::Index> offsets_{0};
  models::Tape tape_;
  models::Gradient gradient_;
  bool passed_ = false;     ///< the backward pass has come to its end
  std::int32_t rest_ = -1;  ///< the collective of what is beside the matrices; −1: none yet
  StepRanks ranks_;
  float loss_ = 0;
};

}  // namespace dadsim::algorithms
