#include "algorithms/learning/learners.hpp"

#include <cmath>
#include <stdexcept>

#include "algorithms/cost.hpp"
#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/site_weights.hpp"
#include "models/optimizer.hpp"
#include "support/parallel.hpp"

namespace dadsim::algorithms {
namespace {

void begin_measuring(ExchangeLeak* meter, std::int64_t number, const Batch& batch, const TrainingStep& step,
                     const models::Network& network, const Attendees* attendees = nullptr) {
  if (meter == nullptr) return;
  meter->begin(
      number, batch, [&step](std::size_t site) { return step.input(site, 0); }, network,
      attendees == nullptr ? std::vector<std::int32_t>() : attendees->sites);
}

/// Weights of one site, or of all sites that share them, with the algorithm and optimizer that train them.
class Replica {
 public:
  Replica(const SynchronousMethod& info, const spec::RunSpec& run, const LearningProblem& problem,
          const RunContext& planned, std::int64_t steps)
      : info_(info),
        samples_(problem.data.train),
        network_(problem.data.shape, problem.model, problem.seed),
        algorithm_(make_algorithm(info, run)),
        optimizer_(make_optimizer(problem.training.optimizer, network_)),
        step_(network_, run.exchange, problem, run.compress),
        rule_{problem.training.optimizer, optimizer_.get(), 0, steps},
        plain_(step_alone(problem.training.optimizer)) {
    algorithm_->prepare(planned);
    if (info.sharing == Sharing::one_network) {
      step_.set_site_weights(site_factors(run.weights, problem.training, problem.partition));
    }
  }

  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  void set_leak_meter(ExchangeLeak* meter) {
    meter_ = meter;
    step_.exchange().tap().set_observer(meter);
  }

  Learners::LearnerStep train(std::int64_t number, const Batch& batch, double rate,
                              const Attendees* attendees = nullptr) {
    step_.begin(number, samples_, batch, attendees);
    begin_measuring(meter_, number, batch, step_, network_, attendees);
    rule_.rate = rate;
    step_.set_update_rule(rule_);
    run_step(info_, *algorithm_, step_);
    if (meter_ != nullptr) meter_->end();
    const spec::OptimizerSpec& applied = step_.is_applied_as_it_is() ? plain_ : rule_.optimizer;
    const std::vector<step::ComputeOp> update = cost::update(applied, step_.applies_directions());
    // Charges parameters that follow a matrix with it, and leaves both out if the matrix is frozen.
    step_.backward([&](std::size_t l) {
      if (!step_.is_frozen(l)) step_.charge(update);
    });
    if (step_.is_applied_as_it_is()) {
      models::make_optimizer(plain_, network_)->update(network_, step_.gradient(), rate);
    } else {
      optimizer_->update(network_, step_.gradient(), rate);
    }
    algorithm_->updated(step_, network_);
    network_.update_running_statistics(step_.tape());
    auto [structure, sizes] = step_.recorder().take();
    return {std::isfinite(step_.loss()), std::move(structure), std::move(sizes), step_.ranks()};
  }

  const models::Network& network() const { return network_; }

  /// Swaps weights and optimizer state with those of another site.
  void swap(models::Network& network, std::unique_ptr<models::Optimizer>& optimizer) {
    std::swap(network_.parameters(), network.parameters());
    optimizer_.swap(optimizer);
    rule_.state = optimizer_.get();
  }

 private:
  /// Returns the optimizer for a step that an algorithm applies itself: only decoupled weight decay remains.
  static spec::OptimizerSpec step_alone(const spec::OptimizerSpec& optimizer) {
    return {.kind = spec::OptimizerSpec::Kind::sgd,
            .weight_decay = optimizer.kind == spec::OptimizerSpec::Kind::adamw ? optimizer.weight_decay : 0};
  }

  const SynchronousMethod& info_;
  const models::Samples& samples_;
  models::Network network_;
  std::unique_ptr<Algorithm> algorithm_;
  std::unique_ptr<models::Optimizer> optimizer_;
  TrainingStep step_;
  UpdateRule rule_;
  spec::OptimizerSpec plain_;
  ExchangeLeak* meter_ = nullptr;
};

Batch in_one_place(const Batch& batch) {
  Batch pooled(1);
  for (const auto& site : batch) pooled[0].insert(pooled[0].end(), site.begin(), site.end());
  return pooled;
}

/// Returns the batch of the sites that take part.
Batch batch_of(const Attendees& attendees, const Batch& all) {
  Batch batch;
  for (const std::int32_t site : attendees.sites) batch.push_back(all.at(static_cast<std::size_t>(site)));
  return batch;
}

/// Sites that apply the same gradient to the same weights, or one site with all data.
class OneNetwork final : public Learners {
 public:
  OneNetwork(const SynchronousMethod& info, const spec::RunSpec& run, const LearningProblem& problem,
             std::int64_t steps)
      : pooled_(info.sharing == Sharing::pooled), replica_(info, run, problem, planned_run(problem), steps) {}

  LearnerStep train(std::int64_t number, double rate, const Batch& batch, const Attendees* attendees) override {
    if (attendees != nullptr) return replica_.train(number, batch_of(*attendees, batch), rate, attendees);
    return replica_.train(number, pooled_ ? in_one_place(batch) : batch, rate);
  }
  std::vector<const models::Network*> networks() const override { return {&replica_.network()}; }
  void set_leak_meter(ExchangeLeak* meter) override { replica_.set_leak_meter(meter); }

 private:
  bool pooled_;
  Replica replica_;
};

/// Sites that train independently, one after the other: each has its own weights and optimizer; all train in the same
/// memory.
class Alone final : public Learners {
 public:
  Alone(const SynchronousMethod& info, const spec::RunSpec& run, const LearningProblem& problem, std::int64_t steps)
      : replica_(info, run, problem, planned_run(problem), steps),
        networks_(problem.partition.size(), replica_.network()) {
    for (const models::Network& network : networks_) {
      optimizers_.push_back(make_optimizer(problem.training.optimizer, network));
    }
  }

  /// Records one step of all sites in parallel: every site has the same structure for its own rows.
  LearnerStep train(std::int64_t number, double rate, const Batch& batch, const Attendees* attendees) override {
    if (attendees != nullptr) throw std::logic_error("sites that share nothing have no attendees");
    LearnerStep all;
    for (std::size_t site = 0; site < networks_.size(); ++site) {
      all.sizes.samples.push_back(static_cast<std::int32_t>(batch[site].size()));
      if (batch[site].empty()) continue;
      replica_.swap(networks_[site], optimizers_[site]);
      LearnerStep one = replica_.train(number, {batch[site]}, rate);
      replica_.swap(networks_[site], optimizers_[site]);
      all.finite = all.finite && one.finite;
      all.structure = std::move(one.structure);
    }
    return all;
  }
  std::vector<const models::Network*> networks() const override {
    std::vector<const models::Network*> all;
    for (const models::Network& network : networks_) all.push_back(&network);
    return all;
  }

 private:
  Replica replica_;
  std::vector<models::Network> networks_;
  std::vector<std::unique_ptr<models::Optimizer>> optimizers_;
};

/// Sites that share some of their layers: each has a network, and the shared layers are equal in all.
class OwnLayers final : public Learners {
 public:
  OwnLayers(const SynchronousMethod& info, const spec::RunSpec& run, const LearningProblem& problem)
      : info_(info),
        samples_(problem.data.train),
        algorithm_(make_algorithm(info, run)),
        networks_(problem.partition.size(), models::Network(problem.data.shape, problem.model, problem.seed)),
        step_(networks_.front(), run.exchange, problem, run.compress),
        update_(cost::update(problem.training.optimizer)) {
    for (const models::Network& network : networks_) {
      optimizers_.push_back(make_optimizer(problem.training.optimizer, network));
    }
    step_.set_networks(networks());
    step_.set_site_weights(site_factors(run.weights, problem.training, problem.partition));
  }

  LearnerStep train(std::int64_t number, double rate, const Batch& batch, const Attendees* attendees) override {
    if (attendees != nullptr) throw std::logic_error("sites with own layers cannot miss steps");
    step_.begin(number, samples_, batch);
    begin_measuring(meter_, number, batch, step_, networks_.front());
    run_step(info_, *algorithm_, step_);
    if (meter_ != nullptr) meter_->end();
    step_.backward([&](std::size_t l) {
      if (!step_.is_frozen(l)) step_.charge(update_);
    });
    parallel_for(networks_.size(), [&](std::size_t site) {
      models::Gradient gradient = step_.gradient();
      for (std::size_t l = 0; l < step_.layers(); ++l) {
        const std::vector<models::LayerGradient>& own = step_.own_gradients(l);
        if (!own.empty()) gradient.matrices[step_.in_network(l)] = own[site];
      }
      optimizers_[site]->update(networks_[site], gradient, rate);
      if (!batch[site].empty()) networks_[site].update_running_statistics(step_.tape(site));
    });
    auto [structure, sizes] = step_.recorder().take();
    return {std::isfinite(step_.loss()), std::move(structure), std::move(sizes), step_.ranks()};
  }
  std::vector<const models::Network*> networks() const override {
    std::vector<const models::Network*> all;
    for (const models::Network& network : networks_) all.push_back(&network);
    return all;
  }
  void set_leak_meter(ExchangeLeak* meter) override {
    meter_ = meter;
    step_.exchange().tap().set_observer(meter);
  }

 private:
  const SynchronousMethod& info_;
  const models::Samples& samples_;
  std::unique_ptr<Algorithm> algorithm_;
  std::vector<models::Network> networks_;
  std::vector<std::unique_ptr<models::Optimizer>> optimizers_;
  TrainingStep step_;
  std::vector<step::ComputeOp> update_;
  ExchangeLeak* meter_ = nullptr;
};

/// Sites with weights of their own that exchange them with their neighbours.
class Gossip final : public Learners {
 public:
  Gossip(const SynchronousMethod& info, const spec::RunSpec& run, const LearningProblem& problem)
      : algorithm_(make_gossip(info, run)), step_(problem, run) {}

  LearnerStep train(std::int64_t number, double rate, const Batch& batch, const Attendees* attendees) override {
    step_.begin(number, rate, batch, attendees);
    if (meter_ != nullptr) meter_->begin(number, step_.network(0));
    algorithm_->run(step_);
    if (meter_ != nullptr) meter_->end();
    auto [structure, sizes] = step_.recorder().take();
    return {std::isfinite(step_.loss()), std::move(structure), std::move(sizes), {}};
  }
  std::vector<const models::Network*> networks() const override {
    std::vector<const models::Network*> all;
    for (std::size_t site = 0; site < step_.sites(); ++site) all.push_back(&step_.network(site));
    return all;
  }
  bool own_weights() const override { return true; }
  void set_leak_meter(ExchangeLeak* meter) override {
    meter_ = meter;
    step_.set_leak_meter(meter);
  }

 private:
  std::unique_ptr<GossipAlgorithm> algorithm_;
  OwnWeightsStep step_;
  ExchangeLeak* meter_ = nullptr;
};

}  // namespace

std::unique_ptr<Learners> make_learners(const spec::RunSpec& run, const LearningProblem& problem, std::int64_t steps) {
  const SynchronousMethod& info = algorithm_registry().at(run.algorithm);
  switch (info.sharing) {
    case Sharing::one_network:
      if (has_own_layers(info, run)) return std::make_unique<OwnLayers>(info, run, problem);
      return std::make_unique<OneNetwork>(info, run, problem, steps);
    case Sharing::pooled:
      return std::make_unique<OneNetwork>(info, run, problem, steps);
    case Sharing::no_sharing:
      return std::make_unique<Alone>(info, run, problem, steps);
    case Sharing::own_weights:
      return std::make_unique<Gossip>(info, run, problem);
    case Sharing::event_driven:
      break;
  }
  throw std::logic_error("unknown way of sharing steps");
}

}  // namespace dadsim::algorithms
