#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "algorithms/gossip/graph.hpp"
#include "algorithms/learning_problem.hpp"
#include "algorithms/training_step.hpp"
#include "models/optimizer.hpp"

namespace dadsim::algorithms {

/// One training step of sites that have weights of their own, x_i, as a decentralised algorithm sees it. Everything
/// that is learned takes part in the exchange: matrices with their biases, one message each, and the rest in one more.
///
/// *Ensures*: what is sent goes through an Exchange and what is computed is recorded; sites are worked on in parallel,
/// with the same bits for any number of threads.
class OwnWeightsStep {
 public:
  OwnWeightsStep(const LearningProblem& problem, const spec::RunSpec& run);
  OwnWeightsStep(const OwnWeightsStep&) = delete;
  OwnWeightsStep& operator=(const OwnWeightsStep&) = delete;

  /// Sets the batch: per site, the indices of its samples (a site may have none). `rate`: of learning.
  void begin(std::int64_t number, double rate, const std::vector<std::vector<std::int32_t>>& batch);

  std::size_t sites() const { return sites_.size(); }
  std::int64_t number() const { return number_; }
  const step::Neighbours& graph() const { return *graph_; }
  const models::Network& network(std::size_t site) const { return sites_[site]->network; }
  models::Network& network(std::size_t site) { return sites_[site]->network; }

  // Pieces of the work: each computes for real and records what it costs.

  /// Every site hands x_i, as it is now, to its neighbours.
  void send_weights();
  /// g_i: every site's own forward and backward pass. It is n · N_i ÷ ΣN times the mean over its samples, so that the
  /// mean of all g_i is the gradient of all samples.
  void compute_gradients();
  /// x_i ← x_i − η u(g_i), u the optimizer.
  void apply_gradients();
  /// Waits for what the neighbours have sent: x_i ← W_ii x_i + Σ_j W_ij x_j.
  void mix();

  /// The mean over sites; not a finite number once one of them has diverged.
  float loss() const { return loss_; }
  step::StepRecorder& recorder() { return recorder_; }
  Exchange& exchange() { return exchange_; }

 private:
  struct Site {
    explicit Site(const LearningProblem& problem)
        : network(problem.data.shape, problem.model, problem.seed),
          optimizer(make_optimizer(problem.training.optimizer, network)),
          step(network, spec::ExchangeMode::peer, problem.seed) {}
    models::Network network;
    std::unique_ptr<models::Optimizer> optimizer;
    TrainingStep step;
  };
  using Received = Pending<std::vector<std::vector<models::Matrix>>>;

  /// What a site has of a matrix with its biases, or of everything beside the matrices, as one row.
  models::Matrix row_of(const Site& site, std::size_t matrix) const;
  models::Matrix rest_of(const Site& site) const;
  /// The mean of what a site and its neighbours have sent, and what the site has changed since.
  models::Matrix mixed(std::size_t site, const models::Matrix& own, const models::Matrix& sent,
                       const std::vector<models::Matrix>& received) const;
  /// Calls `body(m)` for every matrix from the last to the first; what it records belongs to it.
  void for_each_matrix(step::Over over, const std::function<void(std::size_t matrix)>& body);

  const models::Samples& samples_;
  std::vector<std::unique_ptr<Site>> sites_;
  std::shared_ptr<const step::Neighbours> graph_;
  MixingWeights weights_;
  std::size_t most_neighbours_ = 0;
  step::StepRecorder recorder_;
  Exchange exchange_;
  step::Work update_;
  std::int64_t number_ = 0;
  double rate_ = 0;
  std::vector<std::vector<std::int32_t>> batch_;
  std::vector<std::vector<models::Matrix>> sent_;  ///< per matrix and site: what was handed over
  std::vector<Received> received_;                 ///< per matrix
  std::vector<models::Matrix> sent_rest_;          ///< per site; empty where all that is learned are matrices
  Received received_rest_;
  float loss_ = 0;
};

/// A decentralised algorithm: how sites with weights of their own go on from one step to the next.
class GossipAlgorithm {
 public:
  virtual ~GossipAlgorithm() = default;
  /// *Requires* step.begin() with the batch of this step.
  virtual void run(OwnWeightsStep& step) = 0;
};

}  // namespace dadsim::algorithms
