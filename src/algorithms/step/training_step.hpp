#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "algorithms/attendance.hpp"
#include "algorithms/cost.hpp"
#include "algorithms/exchange/exchange.hpp"
#include "algorithms/learning_problem.hpp"
#include "models/data/dataset.hpp"
#include "models/network.hpp"
#include "models/optimizer.hpp"
#include "step/step_recorder.hpp"

namespace dadsim::algorithms {

/// Effective ranks of one step, per matrix that multiplies rows.
struct StepRanks {
  std::vector<double> site;  ///< mean over sites; empty if the algorithm has no ranks
  std::vector<double> merged;
};

/// Rule by which the gradient of an algorithm is applied.
struct UpdateRule {
  spec::OptimizerSpec optimizer = {};
  const models::Optimizer* state = nullptr;  ///< the optimizer itself; null if there is none (a single step)
  double rate = 1;                           ///< η of this step
  std::int64_t steps = 0;                    ///< largest number of steps of the run; 0: unknown
};

/// One training step of all sites that share a network, as an algorithm uses it. The samples of all sites are stacked
/// in site order, so that one matrix product computes all sites; site s owns samples(s) of them. Computation for all
/// sites at once is recorded as each site computing its own part.
///
/// Matrices are numbered in the order of the forward pass: 0 … layers() − 1 are those that multiply rows, whose
/// gradient is Δᵀ A; layers() … matrices() − 1 are the tables of embeddings, which only algorithms on gradients treat
/// like them. Parameters outside the matrices (norms, positions, tables unless the algorithm handles them) are summed
/// over sites uncompressed; the algorithm does nothing for them.
///
/// An algorithm *requires* begin() with a batch. It *ensures* that gradient(l) holds, for every matrix that it handles,
/// the gradient that all sites apply. It starts with forward() and processes the matrices in backward().
class TrainingStep {
 public:
  TrainingStep(const models::Network& network, spec::ExchangeMode mode, std::uint64_t seed,
               const spec::CompressSpec& compress = {});
  /// Takes seed and loss function from the learning problem.
  TrainingStep(const models::Network& network, spec::ExchangeMode mode, const LearningProblem& problem,
               const spec::CompressSpec& compress = {});

  /// Gives each site a separate network for its passes, with the shape of `network`; shared layers must be equal in
  /// all. Functions for the stacked rows of all sites are then not available.
  void set_networks(std::vector<const models::Network*> of_sites);

  /// Sets the batch: per site, the indices of its samples (a site may have none, but not all sites). With `attendees`
  /// the step has only those sites, and `batch` has an entry for each.
  void begin(std::int64_t number, const models::Samples& samples, const std::vector<std::vector<std::int32_t>>& batch,
             const Attendees* attendees = nullptr);
  /// Sets a factor on each site's part of the loss, and so on every Δ, from now on; empty: none.
  void set_site_weights(std::vector<float> weights) { site_weights_ = std::move(weights); }
  /// Sets whether sites share a network, so that parameters outside the matrices are summed.
  void set_sharing(bool sharing) { sharing_ = sharing; }
  /// Records the wait for parameters outside the matrices, which completes gradient().
  void finish();
  void set_update_rule(const UpdateRule& rule) { rule_ = rule; }

  std::size_t layers() const { return layers_; }
  std::size_t matrices() const { return matrix_.size(); }
  /// Returns the number of matrix l in the network.
  std::size_t in_network(std::size_t l) const { return matrix_[l]; }
  bool is_embedding(std::size_t l) const { return l >= layers_; }
  const models::WeightsOf<float>& weights(std::size_t l) const { return network_.layer(matrix_[l]); }
  /// Returns φ if Δ_l follows from Δ_{l+1} alone: Δ_l = (Δ_{l+1} W_{l+1}) ⊙ φ'.
  std::optional<spec::Activation> chained(std::size_t l) const;
  std::size_t sites() const { return offsets_.size() - 1; }
  /// Returns whether steps may have different participants, so that state between steps must be kept per site.
  bool sites_change() const { return all_sites_ > 0; }
  /// Returns the number of sites, including absent ones.
  std::size_t all_sites() const { return sites_change() ? all_sites_ : sites(); }
  /// Returns the number, among all sites, of a site of this step.
  std::size_t among_all(std::size_t site) const {
    return sites_change() ? static_cast<std::size_t>(attendees_.at(site)) : site;
  }
  Eigen::Index samples(std::size_t site) const { return offsets_[site + 1] - offsets_[site]; }
  const models::Network& network() const { return network_; }
  const UpdateRule& update_rule() const { return rule_; }
  std::uint64_t seed() const { return seed_; }
  std::int64_t number() const { return number_; }

  /// Runs the forward pass of all sites, and forms the Δ of the last matrix. Δ is scaled by N_s ÷ ΣN, so that the
  /// sites' contributions sum to the gradient.
  void forward();

  /// Calls `body(l)` for the matrices that multiply rows, from the last to the first; operations recorded in it belong
  /// to l.
  void backward(const std::function<void(std::size_t l)>& body);
  /// Works like backward(), but includes tables in their order among the matrices: the algorithm handles their
  /// gradients.
  void backward_with_embeddings(const std::function<void(std::size_t l)>& body);
  /// Works like backward_with_embeddings() in stages, for work after each layer's gradient. With buckets, a bucket's
  /// stage begins once its layers' gradients are present and the previous stage has begun for the next bucket. See
  /// Sweep::stage.
  void stage_of_buckets(const std::function<void(std::size_t l)>& body);
  /// Works like backward_with_embeddings(), but the messages of all matrices from one place in `body` become one. See
  /// step::kTogether.
  void together(const std::function<void(std::size_t l)>& body);
  /// Calls `body()`; operations recorded in it belong to the last layer alone.
  void at_last_layer(const std::function<void()>& body);

  /// Calls `body()`; operations recorded in it belong to all matrices together, including tables.
  void at_all_layers(const std::function<void()>& body);

  /// Sets `make(v, sum)`, which transforms each vector outside the matrices, summed over sites, before it is applied.
  /// `work`: its cost per parameter.
  void transform_non_matrix_parameters(std::function<void(std::size_t v, models::Vector& sum)> make, step::Work work);
  /// Declares gradient() to be the step itself, without the optimizer: weights ← weights − η (gradient() + λ weights),
  /// with λ the decoupled weight decay. For algorithms that are optimizers themselves.
  void apply_as_it_is() { as_it_is_ = true; }
  bool is_applied_as_it_is() const { return as_it_is_; }
  /// Declares that gradients of hidden matrices are directions (models::LayerGradient::is_direction).
  void apply_directions() { directions_ = true; }
  bool applies_directions() const { return directions_; }

  // Parts of the work: each computes its result and records its cost.

  /// Computes Δ_{l−1} from Δ_l, for every site on its own rows. The sweep that propagates matrix 0 is the backward
  /// pass.
  void backpropagate(std::size_t l);
  /// Calls backpropagate(l) only if a layer below needs the sites' own Δ, which does not follow from the Δ above it.
  void backpropagate_where_needed(std::size_t l);
  /// Declares that there is no backward pass: parameters outside the matrices have zero gradients, are not sent and
  /// stay unchanged.
  void skip_non_matrix_parameters();
  /// Returns the loss of the step's labels at the output of another network, after its forward pass over the same
  /// samples. The loss is scaled like the step's own. Sets the Δ in `tape`.
  float loss_of(const models::Network& network, models::Tape& tape) const;
  /// Replaces the Δ of matrix l (rows of all sites × out).
  void set_delta(std::size_t l, const models::Matrix& delta) { network_.set_delta(matrix_[l], delta, tape_); }
  /// Records that every site forms its own gradient of matrix l, Δᵀ A over its rows. Returns a function that adds one
  /// site's gradient to its argument; no gradient is stored.
  using GradientOfSite = std::function<void(std::size_t site, models::LayerGradient& sum)>;
  GradientOfSite site_gradients(std::size_t l);
  /// Forms gradient(l) = Δᵀ A over the rows of all sites: the sum of the sites' gradients.
  void form_gradient(std::size_t l);

  // Work on the rows that all sites have shared, which every site does.

  /// Forms gradient(l) = Δ̂ᵀ Â.
  void form_gradient_of_rows(std::size_t l, const models::Matrix& deltas, const models::Matrix& inputs);
  /// Returns Z = Â Wᵀ + b of matrix l.
  models::Matrix preactivations_of_rows(std::size_t l, spec::Activation activation, const models::Matrix& inputs);
  /// Returns Δ̂_l W_l, the gradient with respect to the outputs of matrix l − 1; an empty matrix if the Δ of that
  /// matrix does not follow from it.
  models::Matrix backpropagate_rows(std::size_t l, const models::Matrix& deltas);

  /// Records the cost of a computation. Only functions that carry one out, here and in pieces/, should call it;
  /// algorithms call those functions.
  void charge(step::Phase phase, step::Role who, std::vector<step::Work> branches, bool except_first_layer = false,
              bool every_layer = false);
  void charge(const std::vector<step::ComputeOp>& ops);

  /// Returns A of matrix l at site s, rows × in.
  models::ConstBlock input(std::size_t site, std::size_t l) const;
  /// Returns Δ of matrix l at site s, rows × out.
  models::ConstBlock delta(std::size_t site, std::size_t l) const;
  /// Returns the A, or the Δ, of matrix l at all sites, in site order.
  models::RowsOf<float> inputs(std::size_t l) const { return network_.input(matrix_[l], stacked()); }
  models::RowsOf<float> deltas(std::size_t l) const { return network_.delta(matrix_[l], stacked()); }

  /// Forms every site's own gradient of matrix l and keeps it, for the mean loss over the site's own samples. Matrix l
  /// then has no gradient(l).
  void keep_gradients(std::size_t l);
  /// Returns the gradients of keep_gradients(l) per site; empty for a shared matrix, and for a site without samples.
  const std::vector<models::LayerGradient>& own_gradients(std::size_t l) const { return own_gradients_[l]; }
  /// Replaces Δ of matrix l by these rows at every site.
  void replace_deltas(std::size_t l, const models::Matrix& rows);

  /// Freezes matrix l in this step: it is not updated, and gradient(l) is empty.
  void freeze(std::size_t l);
  bool is_frozen(std::size_t l) const { return frozen_[l]; }

  /// Returns, for table l at site s, the symbols read, or the gradients of the rows read (rows × in).
  std::vector<std::int32_t> symbols(std::size_t site, std::size_t l) const;
  models::ConstBlock table_delta(std::size_t site, std::size_t l) const;

  Exchange& exchange() { return exchange_; }
  step::StepRecorder& recorder() { return recorder_; }
  models::LayerGradient& gradient(std::size_t l) { return gradient_.matrices[matrix_[l]]; }
  const models::LayerGradient& gradient(std::size_t l) const { return gradient_.matrices[matrix_[l]]; }
  /// Returns the gradient of all learned parameters, in the order of the network.
  const models::Gradient& gradient() const { return gradient_; }
  StepRanks& ranks() { return ranks_; }
  float loss() const { return loss_; }
  const models::Tape& tape() const { return tape_; }
  /// Returns the tape of a site with a separate network.
  const models::Tape& tape(std::size_t site) const { return tapes_.at(site); }

 private:
  float loss_of(const models::Network& network, models::Tape& tape, Eigen::Index first, Eigen::Index count) const;
  /// Returns the tape of all sites together. Throws std::logic_error if sites have separate networks.
  const models::Tape& stacked() const;
  /// Calls `body(network, tape, first, samples, site)` for every pass: one of all samples, or one for each site with
  /// samples, in site order.
  void for_each_pass(const std::function<void(const models::Network& network, models::Tape& tape, Eigen::Index first,
                                              Eigen::Index samples, std::size_t site)>& body);
  /// Returns a site's part of the stacked rows of all sites.
  models::ConstBlock of_site(std::size_t site, const models::RowsOf<float>& all) const;
  void sweep(bool embeddings, const std::function<void(std::size_t l)>& body, std::int32_t stage = 0);
  /// Takes a site's gradient of matrix l from the tape and adds it to `sum`.
  void add_gradient(std::size_t site, std::size_t l, models::LayerGradient& sum) const;
  void form_own_gradient(std::size_t l);
  bool needs_delta_below(std::size_t l) const;
  void sum_non_matrix_parameters(bool embeddings_seen_to);

  const models::Network& network_;
  std::vector<std::size_t> matrix_;  ///< number here → number in the network
  std::size_t layers_ = 0;
  step::StepRecorder recorder_;
  Exchange exchange_;
  std::uint64_t seed_;
  float label_smoothing_ = 0;
  bool sharing_ = true;
  UpdateRule rule_;
  bool as_it_is_ = false, directions_ = false;
  std::function<void(std::size_t v, models::Vector& sum)> transform_non_matrix_parameters_;
  step::Work work_of_the_rest_;
  std::int64_t number_ = 0;
  std::vector<std::int32_t> labels_;
  std::vector<float> site_weights_;
  std::vector<std::int32_t> attendees_;  ///< per site of the step, its number among all sites, if participants may
                                         ///< change
  std::size_t all_sites_ = 0;            ///< number of sites of the run; 0: participants do not change
  std::vector<Eigen::Index> offsets_{0};
  models::Tape tape_;
  std::vector<const models::Network*> networks_;                   ///< per site; empty: all use network_
  std::vector<models::Tape> tapes_;                                ///< per site; empty: all use tape_
  std::vector<std::vector<models::LayerGradient>> own_gradients_;  ///< per matrix, per site
  models::Gradient gradient_;
  std::vector<bool> frozen_;  ///< per matrix, whether it is frozen
  bool passed_ = false;       ///< the backward pass has ended
  std::int32_t stage_ = 0;    ///< number of bucket stages in this step so far
  std::int32_t rest_ = -1;    ///< collective of the parameters outside the matrices; −1: none yet
  bool rest_left_ = false;    ///< true: parameters outside the matrices are not summed
  StepRanks ranks_;
  float loss_ = 0;
};

}  // namespace dadsim::algorithms
