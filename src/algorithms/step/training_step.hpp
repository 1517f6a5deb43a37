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

/// How the gradient that an algorithm leaves is applied.
struct UpdateRule {
  spec::OptimizerSpec optimizer = {};
  const models::Optimizer* state = nullptr;  ///< the optimizer itself; null where there is none (one step by itself)
  double rate = 1;                           ///< η of this step
  std::int64_t steps = 0;                    ///< that the run may take; 0: not known
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
  /// With the seed and the loss of what is to be learned.
  TrainingStep(const models::Network& network, spec::ExchangeMode mode, const LearningProblem& problem,
               const spec::CompressSpec& compress = {});

  /// From now on the passes of each site go through a network of its own, of the shape of `network`; those layers that
  /// sites share must be the same in all. The pieces for the rows of all sites stacked are not there then.
  void set_networks(std::vector<const models::Network*> of_sites);

  /// Sets the batch: per site, the indices of its samples (a site may have none, not all of them). With `attendees` the
  /// sites of the step are those alone, and `batch` is theirs.
  void begin(std::int64_t number, const models::Samples& samples, const std::vector<std::vector<std::int32_t>>& batch,
             const Attendees* attendees = nullptr);
  /// From now on each site's part of the loss, and so of every Δ, has a factor; empty: none has.
  void set_site_weights(std::vector<float> weights) { site_weights_ = std::move(weights); }
  /// Whether sites share a network, so that what is beside the matrices is summed.
  void set_sharing(bool sharing) { sharing_ = sharing; }
  /// Records the wait for what is beside the matrices; gradient() is complete after it.
  void finish();
  void set_update_rule(const UpdateRule& rule) { rule_ = rule; }

  std::size_t layers() const { return layers_; }
  std::size_t matrices() const { return matrix_.size(); }
  /// The number of matrix l in the network.
  std::size_t in_network(std::size_t l) const { return matrix_[l]; }
  bool is_embedding(std::size_t l) const { return l >= layers_; }
  const models::WeightsOf<float>& weights(std::size_t l) const { return network_.layer(matrix_[l]); }
  /// Where Δ_l follows from Δ_{l+1} alone: Δ_l = (Δ_{l+1} W_{l+1}) ⊙ φ', this is φ.
  std::optional<spec::Activation> chained(std::size_t l) const;
  std::size_t sites() const { return offsets_.size() - 1; }
  /// Whether other sites may take part in other steps: what a site keeps from step to step is kept for it apart then.
  bool sites_change() const { return all_sites_ > 0; }
  /// Sites that there are, here or not.
  std::size_t all_sites() const { return sites_change() ? all_sites_ : sites(); }
  /// The number of a site of this step among all.
  std::size_t among_all(std::size_t site) const {
    return sites_change() ? static_cast<std::size_t>(attendees_.at(site)) : site;
  }
  Eigen::Index samples(std::size_t site) const { return offsets_[site + 1] - offsets_[site]; }
  const models::Network& network() const { return network_; }
  const UpdateRule& update_rule() const { return rule_; }
  std::uint64_t seed() const { return seed_; }
  std::int64_t number() const { return number_; }

  /// Forward pass of all sites, and the Δ of the last matrix. Δ is scaled by N_s ÷ ΣN: contributions of sites just add
  /// up.
  void forward();

  /// Calls `body(l)` for the matrices that multiply rows, from the last to the first; what it records belongs to l.
  void backward(const std::function<void(std::size_t l)>& body);
  /// Does the same with tables at their place among the matrices: the algorithm sees to their gradients.
  void backward_with_embeddings(const std::function<void(std::size_t l)>& body);
  /// Does the same with what follows on each layer's gradient, in stages: with buckets, a stage of a bucket begins once
  /// the gradients of its layers are there and the stage before has begun for the bucket behind it. See Sweep::stage.
  void stage_of_buckets(const std::function<void(std::size_t l)>& body);
  /// Does the same as backward_with_embeddings(), and what all matrices send in the same place of `body` is one
  /// message. See step::kTogether.
  void together(const std::function<void(std::size_t l)>& body);
  /// Calls `body()`; what it records belongs to the last layer alone.
  void at_last_layer(const std::function<void()>& body);

  /// Calls `body()`; what it records belongs to all matrices together, tables among them.
  void at_all_layers(const std::function<void()>& body);

  /// Once what is beside the matrices has been summed over sites, `make(v, sum)` makes of each vector what is applied;
  /// `work` is what that costs, per parameter.
  void transform_non_matrix_parameters(std::function<void(std::size_t v, models::Vector& sum)> make, step::Work work);
  /// gradient() is the step itself: weights ← weights − η (gradient() + λ weights), λ if the decay of weights is
  /// decoupled, without the optimizer's doing. For algorithms that are optimizers themselves.
  void apply_as_it_is() { as_it_is_ = true; }
  bool is_applied_as_it_is() const { return as_it_is_; }

  // Pieces of the work: each computes for real and records what it costs.

  /// On to Δ_{l−1} from Δ_l, for every site its own rows. The sweep in which matrix 0 is propagated is the backward
  /// pass.
  void backpropagate(std::size_t l);
  /// Does so only where a layer below needs a Δ of the sites' own: one that does not follow from that above it.
  void backpropagate_where_needed(std::size_t l);
  /// There is no backward pass, and what is beside the matrices stays as it is: its gradient is zero and nobody sends
  /// it.
  void skip_non_matrix_parameters();
  /// The loss of the step's labels at the end of another network, which has been passed forward over the same samples:
  /// scaled as the step's own. Its Δ are there afterwards.
  float loss_of(const models::Network& network, models::Tape& tape) const;
  /// Puts something in the place of the Δ of matrix l (rows of all sites × out).
  void set_delta(std::size_t l, const models::Matrix& delta) { network_.set_delta(matrix_[l], delta, tape_); }
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
  /// Δ̂_l W_l, what comes down to the outputs of matrix l − 1, where the Δ of that follows from it; empty elsewhere.
  models::Matrix backpropagate_rows(std::size_t l, const models::Matrix& deltas);

  /// Records what a computation costs. For the pieces that carry it out, here and in pieces/: an algorithm calls those.
  void charge(step::Phase phase, step::Role who, std::vector<step::Work> branches, bool except_first_layer = false,
              bool every_layer = false);

  /// A of matrix l at site s, rows × in.
  models::ConstBlock input(std::size_t site, std::size_t l) const;
  /// Δ of matrix l at site s, rows × out.
  models::ConstBlock delta(std::size_t site, std::size_t l) const;
  /// The A, and below it the Δ, of matrix l at all sites, in site order.
  models::RowsOf<float> inputs(std::size_t l) const { return network_.input(matrix_[l], stacked()); }
  models::RowsOf<float> deltas(std::size_t l) const { return network_.delta(matrix_[l], stacked()); }

  /// Every site forms its gradient of matrix l and keeps it: as if its loss were the mean over its own samples. Matrix
  /// l has no gradient(l) then.
  void keep_gradients(std::size_t l);
  /// Per site, what keep_gradients(l) has left; empty where the matrix is shared, and for a site without samples.
  const std::vector<models::LayerGradient>& own_gradients(std::size_t l) const { return own_gradients_[l]; }
  /// Δ of matrix l becomes these rows at every site.
  void replace_deltas(std::size_t l, const models::Matrix& rows);

  /// Matrix l is not updated in this step, and gradient(l) holds nothing.
  void freeze(std::size_t l);
  bool is_frozen(std::size_t l) const { return frozen_[l]; }

  /// Of table l at site s: the symbols that were read, and the gradients of what was read, rows × in.
  std::vector<std::int32_t> symbols(std::size_t site, std::size_t l) const;
  models::ConstBlock table_delta(std::size_t site, std::size_t l) const;

  Exchange& exchange() { return exchange_; }
  step::StepRecorder& recorder() { return recorder_; }
  models::LayerGradient& gradient(std::size_t l) { return gradient_.matrices[matrix_[l]]; }
  const models::LayerGradient& gradient(std::size_t l) const { return gradient_.matrices[matrix_[l]]; }
  /// The gradient of everything that is learned, in the order of the network.
  const models::Gradient& gradient() const { return gradient_; }
  StepRanks& ranks() { return ranks_; }
  float loss() const { return loss_; }
  const models::Tape& tape() const { return tape_; }
  /// Of a site with a network of its own.
  const models::Tape& tape(std::size_t site) const { return tapes_.at(site); }

 private:
  float loss_of(const models::Network& network, models::Tape& tape, Eigen::Index first, Eigen::Index count) const;
  /// The tape of all sites together. Throws std::logic_error where they have networks of their own.
  const models::Tape& stacked() const;
  /// Calls `body(network, tape, first, samples, site)` for every pass: one of all samples, or one for each site that
  /// has some, in site order.
  void for_each_pass(const std::function<void(const models::Network& network, models::Tape& tape, Eigen::Index first,
                                              Eigen::Index samples, std::size_t site)>& body);
  /// The rows of a site among those of all, which are stacked.
  models::ConstBlock of_site(std::size_t site, const models::RowsOf<float>& all) const;
  void sweep(bool embeddings, const std::function<void(std::size_t l)>& body, std::int32_t stage = 0);
  /// Takes the gradients of what is beside the matrices from the tape, and sends them.
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
  bool as_it_is_ = false;
  std::function<void(std::size_t v, models::Vector& sum)> transform_non_matrix_parameters_;
  step::Work work_of_the_rest_;
  std::int64_t number_ = 0;
  std::vector<std::int32_t> labels_;
  std::vector<float> site_weights_;
  std::vector<std::int32_t> attendees_;  ///< per site of the step, its number among all; where sites change
  std::size_t all_sites_ = 0;            ///< 0: they do not
  std::vector<Eigen::Index> offsets_{0};
  models::Tape tape_;
  std::vector<const models::Network*> networks_;                   ///< per site; empty: all go through network_
  std::vector<models::Tape> tapes_;                                ///< likewise
  std::vector<std::vector<models::LayerGradient>> own_gradients_;  ///< per matrix, per site
  models::Gradient gradient_;
  std::vector<bool> frozen_;  ///< per matrix
  bool passed_ = false;       ///< the backward pass has come to its end
  std::int32_t stage_ = 0;    ///< of buckets, of this step so far
  std::int32_t rest_ = -1;    ///< the collective of what is beside the matrices; −1: none yet
  bool rest_left_ = false;    ///< there is none
  StepRanks ranks_;
  float loss_ = 0;
};

}  // namespace dadsim::algorithms
