#include "algorithms/learners.hpp"

#include <cmath>

#include "algorithms/cost.hpp"
#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/registry.hpp"
#include "models/optimizer.hpp"

namespace dadsim::algorithms {
namespace {

/// The weights of one site, or of all that share them, with everything that trains them.
class Replica {
 public:
  Replica(const AlgorithmInfo& info, const spec::RunSpec& run, const LearningProblem& problem)
      : info_(info),
        samples_(problem.data.train),
        network_(problem.data.shape, problem.model, problem.seed),
        algorithm_(info.make(run.parameters)),
        optimizer_(make_optimizer(problem.training.optimizer, network_)),
        step_(network_, run.exchange, problem.seed, run.compress),
        update_(cost::update(models::update_floats_per_parameter(problem.training.optimizer),
                             models::update_flops_per_parameter(problem.training.optimizer))) {}

  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  Learners::Step train(std::int64_t number, const Batch& batch, double rate) {
    step_.begin(number, samples_, batch);
    run_step(info_, *algorithm_, step_);
    step_.backward(
        [&](std::size_t) { step_.charge(step::Phase::update, step::Role::workers, {update_}, false, true); });
    optimizer_->update(network_, step_.gradient(), rate);
    network_.update_running_statistics(step_.tape());
    auto [structure, sizes] = step_.recorder().take();
    return {std::isfinite(step_.loss()), std::move(structure), std::move(sizes), step_.ranks()};
  }

  const models::Network& network() const { return network_; }

 private:
  const AlgorithmInfo& info_;
  const models::Samples& samples_;
  models::Network network_;
  std::unique_ptr<Algorithm> algorithm_;
  std::unique_ptr<models::Optimizer> optimizer_;
  TrainingStep step_;
  step::Work update_;
};

Batch in_one_place(const Batch& batch) {
  Batch pooled(1);
  for (const auto& site : batch) pooled[0].insert(pooled[0].end(), site.begin(), site.end());
  return pooled;
}

/// Sites that apply the same gradient to the same weights, or one that has all data.
class OneNetwork final : public Learners {
 public:
  OneNetwork(const AlgorithmInfo& info, const spec::RunSpec& run, const LearningProblem& problem)
      : pooled_(info.sharing == Sharing::pooled), replica_(info, run, problem) {}

  Step train(std::int64_t number, double rate, const Batch& batch) override {
    return replica_.train(number, pooled_ ? in_one_place(batch) : batch, rate);
  }
  std::vector<const models::Network*> networks() const override { return {&replica_.network()}; }

 private:
  bool pooled_;
  Replica replica_;
};

/// Sites that have nothing to do with each other.
class Alone final : public Learners {
 public:
  Alone(const AlgorithmInfo& info, const spec::RunSpec& run, const LearningProblem& problem) {
    for (std::size_t i = 0; i < problem.partition.size(); ++i) {
      replicas_.push_back(std::make_unique<Replica>(info, run, problem));
    }
  }

  /// Every site records the same structure for its own rows: one step of all sites side by side.
  Step train(std::int64_t number, double rate, const Batch& batch) override {
    Step all;
    for (std::size_t site = 0; site < replicas_.size(); ++site) {
      all.sizes.samples.push_back(static_cast<std::int32_t>(batch[site].size()));
      if (batch[site].empty()) continue;
      Step one = replicas_[site]->train(number, {batch[site]}, rate);
      all.finite = all.finite && one.finite;
      all.structure = std::move(one.structure);
    }
    return all;
  }
  std::vector<const models::Network*> networks() const override {
    std::vector<const models::Network*> all;
    for (const auto& replica : replicas_) all.push_back(&replica->network());
    return all;
  }

 private:
  std::vector<std::unique_ptr<Replica>> replicas_;
};

/// Sites with weights of their own that exchange them with their neighbours.
class Gossip final : public Learners {
 public:
  Gossip(const AlgorithmInfo& info, const spec::RunSpec& run, const LearningProblem& problem)
      : algorithm_(info.make_gossip(run.parameters)), step_(problem, run) {}

  Step train(std::int64_t number, double rate, const Batch& batch) override {
    step_.begin(number, rate, batch);
    algorithm_->run(step_);
    auto [structure, sizes] = step_.recorder().take();
    return {std::isfinite(step_.loss()), std::move(structure), std::move(sizes), {}};
  }
  std::vector<const models::Network*> networks() const override {
    std::vector<const models::Network*> all;
    for (std::size_t site = 0; site < step_.sites(); ++site) all.push_back(&step_.network(site));
    return all;
  }

 private:
  std::unique_ptr<GossipAlgorithm> algorithm_;
  OwnWeightsStep step_;
};

}  // namespace

std::unique_ptr<Learners> make_learners(const spec::RunSpec& run, const LearningProblem& problem) {
  const AlgorithmInfo& info = algorithm_registry().at(run.algorithm);
  switch (info.sharing) {
    case Sharing::one_network:
    case Sharing::pooled:
      return std::make_unique<OneNetwork>(info, run, problem);
    case Sharing::no_sharing:
      return std::make_unique<Alone>(info, run, problem);
    case Sharing::own_weights:
      return std::make_unique<Gossip>(info, run, problem);
  }
  throw std::logic_error("unknown way of sharing");
}

}  // namespace dadsim::algorithms
