#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "algorithms/gossip/mixing.hpp"
#include "algorithms/gossip/topology.hpp"
#include "algorithms/leak/exchange_leak.hpp"
#include "algorithms/learning_problem.hpp"
#include "algorithms/step/training_step.hpp"
#include "models/optimizer.hpp"

namespace dadsim::algorithms {

/// Numbers of every site, one per parameter of its network: [block][site], each as a row. A block is a matrix followed
/// by its biases; the last block holds all parameters outside the matrices, possibly none.
using Field = std::vector<std::vector<models::Matrix>>;

/// Computes a += scale·b.
void add(Field& a, const Field& b, float scale = 1);
Field difference(Field a, const Field& b);

/// One training step of sites with weights of their own, x_i, as a decentralised algorithm uses it. All learned
/// parameters are exchanged block by block, from the last matrix to the first, with one message per block.
///
/// *Ensures* that all messages go through an Exchange and that all computations are recorded. Sites are processed in
/// parallel, with the same bits for any number of threads.
class OwnWeightsStep {
 public:
  OwnWeightsStep(const LearningProblem& problem, const spec::RunSpec& run);
  OwnWeightsStep(const OwnWeightsStep&) = delete;
  OwnWeightsStep& operator=(const OwnWeightsStep&) = delete;

  /// Shows sent messages to `meter` from now on, and reports forward passes to it.
  void set_leak_meter(ExchangeLeak* meter);

  /// Sets the batch: per site, the indices of its samples (a site may have none). `rate`: learning rate. With
  /// `attendees`, other sites neither train nor exchange: they have no edges, and their weights are unchanged. The step
  /// of a present site does not depend on how many sites are absent.
  void begin(std::int64_t number, double rate, const std::vector<std::vector<std::int32_t>>& batch,
             const Attendees* attendees = nullptr);

  std::size_t sites() const { return sites_.size(); }
  std::int64_t number() const { return number_; }
  /// Returns whether this is the last step, unless training ends early.
  bool is_last() const { return number_ + 1 >= steps_; }
  std::uint64_t seed() const { return seed_; }
  const Topology& topology() const { return topology_; }
  /// Returns the graph of this step and its weights.
  const Topology::MixingRound& round() const { return among_attendees_ ? *among_attendees_ : topology_.at(number_); }
  const models::Network& network(std::size_t site) const { return sites_[site]->network; }
  models::Network& network(std::size_t site) { return sites_[site]->network; }

  std::size_t blocks() const { return matrices() + 1; }
  std::size_t matrices() const { return network(0).layers(); }
  /// Returns whether the site takes part in this step.
  bool is_there(std::size_t site) const { return there_.empty() || there_[site]; }
  bool everyone_is_there() const { return there_.empty(); }
  /// Returns whether sites may miss steps.
  bool sites_change() const { return sites_change_; }
  bool is_matrix(std::size_t block) const { return block < matrices(); }
  /// Returns whether the messages of a block also carry the site's scalars: true for the last matrix that multiplies
  /// rows.
  bool carries_scalars(std::size_t block) const { return block == last_layer_; }
  /// Returns the numbers of a block per site.
  Eigen::Index size(std::size_t block) const;

  // Values of the sites. Access to them is not charged.

  Field weights() const;
  void set_weights(const Field& x);
  /// Returns g_i as computed by compute_gradients(); zero at sites without samples.
  Field gradients() const;
  Field zeros() const;

  // Parts of the work: each computes its result and records its cost.

  /// Computes g_i in every site's own forward and backward pass. With n sites and N_i rows at site i, g_i is n · N_i ÷
  /// ΣN times the mean over its samples, times the site's worth in the run: the mean of all g_i is the gradient of the
  /// run's objective. N includes the rows of absent sites.
  void compute_gradients();
  /// Applies x_i ← x_i − η u(g_i), with u the optimizer.
  void apply_gradients();
  /// Applies the gradients like apply_gradients(), and returns the change of every x_i.
  Field move_by_gradients();
  /// Applies x_i ← x_i − η u(y_i) at the sites present, for directions other than the gradient. Returns the change of
  /// every x_i.
  Field apply(const Field& directions);

  /// Messages in transit, one per block.
  using Sending = std::vector<Pending<Arrivals>>;
  /// Sends a message of every site to each of its neighbours for every block.
  Sending send(const std::function<NeighbourMessage(std::size_t block)>& message);
  /// Sends the same message of a site's own numbers to all its neighbours. `field` must live until it has been sent.
  Sending send(const Field& field);
  /// Waits for the messages block by block, and calls `body(block, site, arrived)` for every site, in parallel.
  /// `per_number`: work of a site per number of the message.
  struct Passes {
    double flops = 0;   ///< per number
    double floats = 0;  ///< floats read and written, per number
    double launches = 1;
  };
  using Body = std::function<void(std::size_t block, std::size_t site, const std::vector<Arrived>& arrived)>;
  void receive(Sending& sending, const Passes& per_number, const Body& body);
  /// Waits like receive(), but calls `body` once per block with the arrivals at all sites.
  void receive_all(Sending& sending, const Passes& per_number,
                   const std::function<void(std::size_t block, const Arrivals& arrivals)>& body);
  /// Returns a site's message as received, if all neighbours get the same one; null for a site without neighbours.
  const Arrived* delivered(std::size_t site, const Arrivals& arrivals) const;
  /// Charges a computation on every number of every block.
  void charge(step::Phase phase, const Passes& per_number);

  /// Replaces x at every site present by the mean over the sites present, with an all-reduce.
  void average(Field& x);

  /// Calls `body(block)` for every block; operations recorded in it belong to the block.
  void for_each_block(const std::function<void(std::size_t block)>& body);

  /// Pulls x towards the neighbours' numbers: x_i + scale Σ_j W_ij (y_j − own_i), with y_j in part `part` of the
  /// arrived messages.
  void pull(models::Matrix& x, const models::Matrix& own, std::size_t site, const std::vector<Arrived>& arrived,
            double scale = 1, std::size_t part = 0) const;
  /// Returns the work of pull() per number: every neighbour's numbers are read once and added.
  Passes pull_passes() const;

  /// Returns the mean loss over the samples of all sites; not finite once a site has diverged.
  float loss() const { return loss_; }
  step::StepRecorder& recorder() { return recorder_; }
  Exchange& exchange() { return exchange_; }

 private:
  struct OwnSite {
    explicit OwnSite(const LearningProblem& problem)
        : network(problem.data.shape, problem.model, problem.seed),
          optimizer(make_optimizer(problem.training.optimizer, network)),
          step(network, spec::ExchangeMode::peer, problem) {}
    models::Network network;
    std::unique_ptr<models::Optimizer> optimizer;
    TrainingStep step;
  };

  /// Returns a site's gradient as in gradients().
  models::Gradient gradient_of(const OwnSite& site, std::size_t i) const;
  void update(OwnSite& site, const models::Gradient& gradient);
  void charge_update();
  void charge_here(step::Phase phase, const Passes& per_number);

  const models::Samples& samples_;
  std::vector<std::unique_ptr<OwnSite>> sites_;
  Topology topology_;
  step::StepRecorder recorder_;
  Exchange exchange_;
  std::vector<step::ComputeOp> update_;
  std::optional<Topology::MixingRound> among_attendees_;  ///< round among the sites present; none: all sites are
                                                          ///< present
  std::vector<bool> there_;                               ///< per site, whether it is present; empty: all are
  bool sites_change_ = false;
  std::vector<float> worth_;  ///< per site, a factor on its gradient; empty: 1
  std::uint64_t seed_;
  std::int64_t steps_ = 0;
  std::size_t last_layer_ = 0;
  std::int64_t number_ = 0;
  double rate_ = 0;
  std::vector<std::vector<std::int32_t>> batch_;  ///< per site; empty for an absent site
  float rows_of_all_ = 0;                         ///< rows of this step, including those of absent sites
  float loss_ = 0;
  ExchangeLeak* meter_ = nullptr;
};

/// A decentralised algorithm: takes sites with weights of their own from one step to the next.
class GossipAlgorithm {
 public:
  virtual ~GossipAlgorithm() = default;
  /// *Requires* step.begin() with the batch of this step.
  virtual void run(OwnWeightsStep& step) = 0;
};

}  // namespace dadsim::algorithms
