#include "algorithms/learn.hpp"

#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "algorithms/batches.hpp"
#include "algorithms/registry.hpp"
#include "models/metrics.hpp"
#include "models/optimizer.hpp"
#include "support/fingerprint.hpp"

namespace dadsim::algorithms {
namespace {

/// The weights of one site, or of all that share them, with everything that trains them.
class Replica {
 public:
  Replica(const AlgorithmInfo& info, const spec::RunSpec& run, const LearningProblem& problem)
      : info_(info),
        network_(problem.data.shape, problem.model, problem.seed),
        algorithm_(info.make(run.parameters)),
        optimizer_(make_optimizer(problem.training.optimizer, network_)),
        step_(network_, run.exchange, problem.seed),
        update_(cost::update(models::update_floats_per_parameter(problem.training.optimizer),
                             models::update_flops_per_parameter(problem.training.optimizer))) {}

  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  void train(std::int64_t number, const models::Samples& samples, const std::vector<std::vector<std::int32_t>>& batch,
             double rate) {
    step_.begin(number, samples, batch);
    run_step(info_, *algorithm_, step_);
    step_.backward(
        [&](std::size_t) { step_.compute(step::Phase::update, step::Role::workers, {update_}, false, true); });
    optimizer_->update(network_, step_.gradient(), rate);
    network_.update_running_statistics(step_.tape());
  }

  TrainingStep& step() { return step_; }
  const models::Network& network() const { return network_; }

 private:
  const AlgorithmInfo& info_;
  models::Network network_;
  std::unique_ptr<Algorithm> algorithm_;
  std::unique_ptr<models::Optimizer> optimizer_;
  TrainingStep step_;
  step::Work update_;
};

/// Stores recorded steps once each.
class StepStore {
 public:
  explicit StepStore(step::Trajectory& trajectory) : trajectory_(trajectory) {}

  void add(step::StepStructure structure, step::StepSizes sizes) {
    step::Step step{index_of(std::move(structure)), std::move(sizes)};
    std::vector<std::int32_t>& candidates = by_hash_[hash(step)];
    for (const std::int32_t candidate : candidates) {
      if (trajectory_.distinct_steps[static_cast<std::size_t>(candidate)] == step) {
        trajectory_.steps.push_back(candidate);
        return;
      }
    }
    candidates.push_back(static_cast<std::int32_t>(trajectory_.distinct_steps.size()));
    trajectory_.steps.push_back(candidates.back());
    trajectory_.distinct_steps.push_back(std::move(step));
  }

 private:
  std::int32_t index_of(step::StepStructure structure) {
    for (std::size_t i = trajectory_.structures.size(); i-- > 0;) {
      if (trajectory_.structures[i] == structure) return static_cast<std::int32_t>(i);
    }
    trajectory_.structures.push_back(std::move(structure));
    return static_cast<std::int32_t>(trajectory_.structures.size()) - 1;
  }

  static std::uint64_t hash(const step::Step& step) {
    const auto bytes = [](const std::vector<std::int32_t>& values) {
      return std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(std::int32_t));
    };
    std::uint64_t hash = fingerprint(bytes(step.sizes.samples), static_cast<std::uint64_t>(step.structure) + 1);
    for (const auto& ranks : step.sizes.ranks) hash = fingerprint(bytes(ranks), hash);
    return hash;
  }

  step::Trajectory& trajectory_;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> by_hash_;
};

/// Mean effective ranks over the steps of an epoch.
class RankAverages {
 public:
  void add(const StepRanks& ranks) {
    if (ranks.site.empty()) return;
    site_.resize(ranks.site.size());
    merged_.resize(ranks.merged.size());
    for (std::size_t l = 0; l < site_.size(); ++l) site_[l] += ranks.site[l];
    for (std::size_t l = 0; l < merged_.size(); ++l) merged_[l] += ranks.merged[l];
    ++steps_;
  }

  void close(std::int32_t epoch, std::vector<step::EpochRanks>& into) {
    if (steps_ == 0) return;
    for (double& rank : site_) rank /= static_cast<double>(steps_);
    for (double& rank : merged_) rank /= static_cast<double>(steps_);
    into.push_back({epoch, std::move(site_), std::move(merged_)});
    *this = {};
  }

 private:
  std::vector<double> site_, merged_;
  std::int64_t steps_ = 0;
};

std::vector<std::vector<std::int32_t>> in_one_place(const std::vector<std::vector<std::int32_t>>& batch) {
  std::vector<std::vector<std::int32_t>> pooled(1);
  for (const auto& site : batch) pooled[0].insert(pooled[0].end(), site.begin(), site.end());
  return pooled;
}

step::Evaluation evaluate_replicas(std::int64_t step, const std::vector<std::unique_ptr<Replica>>& replicas,
                                   const models::Samples& test) {
  step::Evaluation mean{.step = step};
  const auto count = static_cast<double>(replicas.size());
  for (const auto& replica : replicas) {
    const models::Quality quality = evaluate(replica->network(), test);
    mean.loss += quality.loss / count;
    mean.accuracy += quality.accuracy / count;
    mean.auc += quality.auc / count;
  }
  return mean;
}

}  // namespace

std::int64_t budget_in_steps(const spec::TrainingSpec& training, std::int64_t steps_per_epoch) {
  return static_cast<std::int64_t>(std::ceil(training.epochs * static_cast<double>(steps_per_epoch) - 1e-9));
}

step::Trajectory learn(const spec::RunSpec& run, const LearningProblem& problem, const LearningObserver& observer) {
  const AlgorithmInfo& info = find_algorithm(run.algorithm);
  const spec::TrainingSpec& training = problem.training;
  const std::size_t sites = problem.partition.size();

  std::vector<std::unique_ptr<Replica>> replicas;
  const std::size_t networks = info.sharing == Sharing::no_sharing ? sites : 1;
  for (std::size_t i = 0; i < networks; ++i) replicas.push_back(std::make_unique<Replica>(info, run, problem));

  Batches batches(training, problem.partition, problem.seed);
  step::Trajectory trajectory;
  trajectory.steps_per_epoch = batches.steps_per_epoch();
  const std::int64_t steps = std::max<std::int64_t>(1, budget_in_steps(training, trajectory.steps_per_epoch));
  const std::int64_t every = training.evaluate_every > 0 ? training.evaluate_every : trajectory.steps_per_epoch;
  StepStore store(trajectory);
  RankAverages ranks;
  trajectory.curve.push_back(evaluate_replicas(0, replicas, problem.data.test));

  for (std::int64_t step = 0; step < steps; ++step) {
    const double rate =
        models::learning_rate(training.optimizer, training.schedule, step, trajectory.steps_per_epoch, steps);
    const auto batch = batches.next();
    bool finite = true;
    if (info.sharing == Sharing::no_sharing) {
      // Every site records the same structure for its own rows: one step of all sites side by side.
      step::StepSizes sizes;
      step::StepStructure structure;
      for (std::size_t site = 0; site < sites; ++site) {
        sizes.samples.push_back(static_cast<std::int32_t>(batch[site].size()));
        if (batch[site].empty()) continue;
        replicas[site]->train(step, problem.data.train, {batch[site]}, rate);
        finite = finite && std::isfinite(replicas[site]->step().loss());
        structure = replicas[site]->step().recorder().take().first;
      }
      store.add(std::move(structure), std::move(sizes));
    } else {
      Replica& replica = *replicas.front();
      replica.train(step, problem.data.train, info.sharing == Sharing::pooled ? in_one_place(batch) : batch, rate);
      finite = std::isfinite(replica.step().loss());
      ranks.add(replica.step().ranks());
      auto [structure, sizes] = replica.step().recorder().take();
      store.add(std::move(structure), std::move(sizes));
    }

    const std::int64_t done = step + 1;
    const bool last = done == steps || !finite;
    if (done % trajectory.steps_per_epoch == 0 || last) {
      ranks.close(static_cast<std::int32_t>((done + trajectory.steps_per_epoch - 1) / trajectory.steps_per_epoch),
                  trajectory.ranks);
    }
    if (!finite) {
      trajectory.diverged_at = done;
      trajectory.curve.push_back(evaluate_replicas(done, replicas, problem.data.test));
      break;
    }
    if (done % every == 0 || last) {
      trajectory.curve.push_back(evaluate_replicas(done, replicas, problem.data.test));
      if (training.stop == spec::TrainingSpec::Stop::target &&
          trajectory.curve.back().accuracy >= training.target_accuracy) {
        ranks.close(static_cast<std::int32_t>((done + trajectory.steps_per_epoch - 1) / trajectory.steps_per_epoch),
                    trajectory.ranks);
        break;
      }
    }
    if (observer.progress) observer.progress(done, steps);
    if (observer.cancelled != nullptr && observer.cancelled->load(std::memory_order_relaxed)) throw Cancelled();
  }
  return trajectory;
}

}  // namespace dadsim::algorithms
