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

/// Numbers of every site, as many as its network has parameters: [block][site], a row each. A block is a matrix with
/// its biases behind it (row after row of it), or, the last one, everything beside the matrices (it may be nothing).
using Field = std::vector<std::vector<models::Matrix>>;

/// a += scale·b.
void add(Field& a, const Field& b, float scale = 1);
Field difference(Field a, const Field& b);

/// One training step of sites that have weights of their own, x_i, as a decentralised algorithm sees it. Everything
/// that is learned takes part in the exchange: block after block, from the last matrix to the first, one message each.
///
/// *Ensures*: what is sent goes through an Exchange and what is computed is recorded; sites are worked on in parallel,
/// with the same bits for any number of threads.
class OwnWeightsStep {
 public:
  OwnWeightsStep(const LearningProblem& problem, const spec::RunSpec& run);
  OwnWeightsStep(const OwnWeightsStep&) = delete;
  OwnWeightsStep& operator=(const OwnWeightsStep&) = delete;

  /// From now on `meter` sees what is sent, and is told of forward passes.
  void set_leak_meter(ExchangeLeak* meter);

  /// Sets the batch: per site, the indices of its samples (a site may have none). `rate`: of learning. With `attendees`
  /// the other sites neither train nor exchange anything: they have no edges, and their weights stay. A site that is
  /// present takes the step that it takes with all sites present, whatever number of them is absent.
  void begin(std::int64_t number, double rate, const std::vector<std::vector<std::int32_t>>& batch,
             const Attendees* attendees = nullptr);

  std::size_t sites() const { return sites_.size(); }
  std::int64_t number() const { return number_; }
  /// Whether training has no more steps than this one, unless it ends early.
  bool is_last() const { return number_ + 1 >= steps_; }
  std::uint64_t seed() const { return seed_; }
  const Topology& topology() const { return topology_; }
  /// The graph of this step and its weights.
  const Topology::MixingRound& round() const { return among_attendees_ ? *among_attendees_ : topology_.at(number_); }
  const models::Network& network(std::size_t site) const { return sites_[site]->network; }
  models::Network& network(std::size_t site) { return sites_[site]->network; }

  std::size_t blocks() const { return matrices() + 1; }
  std::size_t matrices() const { return network(0).layers(); }
  /// Whether the site takes part in this step.
  bool is_there(std::size_t site) const { return there_.empty() || there_[site]; }
  bool everyone_is_there() const { return there_.empty(); }
  /// Whether there may be steps that sites miss.
  bool sites_change() const { return sites_change_; }
  bool is_matrix(std::size_t block) const { return block < matrices(); }
  /// The block whose messages carry what is said once of the whole site: the last matrix that multiplies rows.
  bool carries_scalars(std::size_t block) const { return block == last_layer_; }
  /// Numbers of a block, at every site.
  Eigen::Index size(std::size_t block) const;

  // What sites have, as numbers. Reading and writing it costs nothing: it is where it is.

  Field weights() const;
  void set_weights(const Field& x);
  /// g_i as compute_gradients() has left it; zero at sites without samples.
  Field gradients() const;
  Field zeros() const;

  // Pieces of the work: each computes for real and records what it costs.

  /// g_i: every site's own forward and backward pass. It is n · N_i ÷ ΣN times the mean over its samples, and what the
  /// run says that the site is worth, so that the mean of all g_i is the gradient of what the run minimises. N counts
  /// the rows of sites that are away too.
  void compute_gradients();
  /// x_i ← x_i − η u(g_i), u the optimizer.
  void apply_gradients();
  /// The same, and by how much that has moved every x_i.
  Field move_by_gradients();
  /// x_i ← x_i − η u(y_i) with another direction than the gradient, at sites that are there. Returns by how much that
  /// has moved every x_i.
  Field apply(const Field& directions);

  /// Messages on their way, a block each.
  using Sending = std::vector<Pending<Arrivals>>;
  /// Every site hands each of its neighbours a message for every block.
  Sending send(const std::function<NeighbourMessage(std::size_t block)>& message);
  /// The same message of a site's own numbers to all its neighbours. `field` is to stay until it has been sent.
  Sending send(const Field& field);
  /// Waits for it, block after block, and calls `body(block, site, arrived)` for every site, sites at the same time.
  /// `per_number`: what a site computes with it, for each of its numbers.
  struct Passes {
    double flops = 0;   ///< of each number
    double floats = 0;  ///< read and written, of each number
    double launches = 1;
  };
  using Body = std::function<void(std::size_t block, std::size_t site, const std::vector<Arrived>& arrived)>;
  void receive(Sending& sending, const Passes& per_number, const Body& body);
  /// The same with what has arrived at all sites at once.
  void receive_all(Sending& sending, const Passes& per_number,
                   const std::function<void(std::size_t block, const Arrivals& arrivals)>& body);
  /// What the neighbours of a site have got from it where all get the same, so that it knows what they know; null where
  /// it has no neighbours.
  const Arrived* delivered(std::size_t site, const Arrivals& arrivals) const;
  /// A computation on every number of every block.
  void charge(step::Phase phase, const Passes& per_number);

  /// Every site that is there ends with the mean of x over those, by an all-reduce.
  void average(Field& x);

  /// Calls `body(block)` for every block; what it records belongs to it.
  void for_each_block(const std::function<void(std::size_t block)>& body);

  /// What D-PSGD and others do with the numbers of neighbours: x_i + scale Σ_j W_ij (y_j − own_i), y_j in that part of
  /// what has arrived.
  void pull(models::Matrix& x, const models::Matrix& own, std::size_t site, const std::vector<Arrived>& arrived,
            double scale = 1, std::size_t part = 0) const;
  /// Passes of pull(): every neighbour's numbers are read once and added.
  Passes pull_passes() const;

  /// The mean over sites; not a finite number once one of them has diverged.
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

  /// A site's gradient as gradients() has it, and how to update with one.
  models::Gradient gradient_of(const OwnSite& site, std::size_t i) const;
  void update(OwnSite& site, const models::Gradient& gradient);
  void charge_update();
  void charge_here(step::Phase phase, const Passes& per_number);

  const models::Samples& samples_;
  std::vector<std::unique_ptr<OwnSite>> sites_;
  Topology topology_;
  step::StepRecorder recorder_;
  Exchange exchange_;
  step::Work update_;
  std::optional<Topology::MixingRound> among_attendees_;  ///< where some sites are missing
  std::vector<bool> there_;                               ///< per site; empty: all are
  bool sites_change_ = false;
  std::vector<float> worth_;  ///< per site, a factor on its gradient; empty: 1
  std::uint64_t seed_;
  std::int64_t steps_ = 0;
  std::size_t last_layer_ = 0;
  std::int64_t number_ = 0;
  double rate_ = 0;
  std::vector<std::vector<std::int32_t>> batch_;  ///< per site; empty where it is away
  float rows_of_all_ = 0;                         ///< in this step, those of sites that are away among them
  float loss_ = 0;
  ExchangeLeak* meter_ = nullptr;
};

/// A decentralised algorithm: how sites with weights of their own go on from one step to the next.
class GossipAlgorithm {
 public:
  virtual ~GossipAlgorithm() = default;
  /// *Requires* step.begin() with the batch of this step.
  virtual void run(OwnWeightsStep& step) = 0;
};

}  // namespace dadsim::algorithms
