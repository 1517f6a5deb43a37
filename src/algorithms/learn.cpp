#include "algorithms/learn.hpp"

#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "algorithms/batches.hpp"
#include "algorithms/gossip/sites_evaluation.hpp"
#include "algorithms/learning/learners.hpp"
#include "algorithms/recent_weights.hpp"
#include "algorithms/registry.hpp"
#include "algorithms/site_weights.hpp"
#include "models/metrics.hpp"
#include "models/optimizer.hpp"
#include "support/fingerprint.hpp"

namespace dadsim::algorithms {
namespace {

/// Stores each distinct recorded step once.
class StepStore {
 public:
  explicit StepStore(step::Trajectory& trajectory) : trajectory_(trajectory) {}

  void add(step::StepStructure structure, step::StepSizes sizes, std::vector<std::int32_t> sites = {}) {
    step::Step step{index_of(std::move(structure)), std::move(sizes), std::move(sites)};
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
    for (const auto& numbers : step.sizes.slots) hash = fingerprint(bytes(numbers), hash);
    return hash;
  }

  step::Trajectory& trajectory_;
  std::unordered_map<std::uint64_t, std::vector<std::int32_t>> by_hash_;
};

/// Averages effective ranks over the steps of an epoch.
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

Attendees attendees_of(Attendance& attendance, std::int64_t step, const Batch& batch, const std::vector<float>& worth) {
  std::vector<std::int64_t> rows;
  for (const std::vector<std::int32_t>& of_site : batch) rows.push_back(static_cast<std::int64_t>(of_site.size()));
  Attendance::Present present = attendance.next(step, rows);
  std::vector<float> factors = factors_of(present, rows, worth);
  return {std::move(present.sites), batch.size(), std::move(factors)};
}

/// Evaluates networks and returns the mean. `own_weights`: the networks belong to sites that exchange their weights.
step::Evaluation evaluate_all(std::int64_t step, const std::vector<const models::Network*>& networks, bool own_weights,
                              const models::Samples& test) {
  step::Evaluation mean{.step = step};
  const auto count = static_cast<double>(networks.size());
  std::vector<double> accuracies;
  for (const models::Network* network : networks) {
    const models::Quality quality = evaluate(*network, test);
    mean.loss += quality.loss / count;
    mean.accuracy += quality.accuracy / count;
    mean.auc += quality.auc / count;
    accuracies.push_back(quality.accuracy);
  }
  if (own_weights) mean.sites = evaluate_sites(networks, std::move(accuracies), test);
  return mean;
}

/// Observes the messages of a run's learners from now on. `takes_over`: few of the run's steps are carried out.
std::unique_ptr<ExchangeLeak> meter_leak(const spec::RunSpec& run, const LearningProblem& problem, Learners& learners,
                                         std::int64_t steps, bool takes_over) {
  const MethodInfo& info = algorithm_registry().at(run.algorithm);
  const LeakSetting setting{
      .has_aggregator = info.communicates() && !info.decentralised() && run.exchange == spec::ExchangeMode::aggregator,
      .own_weights = learners.own_weights(),
      .steps = steps,
      .every = problem.training.leak_every,
      .takes_over = takes_over};
  auto meter = std::make_unique<ExchangeLeak>(problem, *learners.networks().front(), setting);
  learners.set_leak_meter(meter.get());
  return meter;
}

step::Leak leak_of(const spec::RunSpec& run, const ExchangeLeak& meter) {
  if (algorithm_registry().at(run.algorithm).sharing == Sharing::pooled) {
    return {.why_not = Statement{"data-in-one-place"}};
  }
  return meter.result();
}

}  // namespace

std::int64_t budget_in_steps(const spec::TrainingSpec& training, std::int64_t steps_per_epoch) {
  return static_cast<std::int64_t>(std::ceil(training.epochs * static_cast<double>(steps_per_epoch) - 1e-9));
}

RunContext planned_run(const LearningProblem& problem) {
  const Batches batches(problem.training, problem.partition, problem.seed);
  return batches.run_of(std::max<std::int64_t>(1, budget_in_steps(problem.training, batches.steps_per_epoch())));
}

step::Trajectory learn(const spec::RunSpec& run, const LearningProblem& problem, const LearningObserver& observer,
                       Attendance* attendance) {
  const spec::TrainingSpec& training = problem.training;
  Batches batches(training, problem.partition, problem.seed);
  step::Trajectory trajectory;
  trajectory.steps_per_epoch = batches.steps_per_epoch();
  const std::int64_t steps = std::max<std::int64_t>(1, budget_in_steps(training, trajectory.steps_per_epoch));
  const std::unique_ptr<Learners> learners = make_learners(run, problem, steps);
  std::unique_ptr<ExchangeLeak> meter;
  if (observer.measures_leak) meter = meter_leak(run, problem, *learners, steps, false);
  const std::int64_t every = training.evaluate_every > 0 ? training.evaluate_every : trajectory.steps_per_epoch;
  StepStore store(trajectory);
  RankAverages ranks;
  const std::vector<float> worth = site_factors(run.weights, training, problem.partition);
  const auto evaluated = [&](std::int64_t done, const RecentWeights::Networks& networks) {
    return evaluate_all(done, networks, learners->own_weights(), problem.data.test);
  };
  trajectory.curve.push_back(evaluated(0, learners->networks()));
  // Adds evaluations near a target if no interval is given, since once per epoch is too coarse.
  std::optional<RecentWeights> between;
  if (training.evaluate_every == 0) {
    std::vector<double> ahead = training.targets();
    std::erase_if(ahead, [&](double target) { return trajectory.curve.front().accuracy >= target; });
    between.emplace(std::move(ahead), every, learners->networks());
  }

  for (std::int64_t step = 0; step < steps; ++step) {
    const double rate =
        models::learning_rate(training.optimizer, training.schedule, step, trajectory.steps_per_epoch, steps);
    const Batch batch = batches.next();
    std::optional<Attendees> attendees;
    if (attendance != nullptr) attendees = attendees_of(*attendance, step, batch, worth);
    if (step == observer.most_steps || (attendees && attendees->sites.empty())) {  // the limit is reached, or no site
                                                                                   // takes another step
      if (trajectory.curve.back().step < step) trajectory.curve.push_back(evaluated(step, learners->networks()));
      ranks.close(static_cast<std::int32_t>((step + trajectory.steps_per_epoch - 1) / trajectory.steps_per_epoch),
                  trajectory.ranks);
      break;
    }
    Learners::LearnerStep trained = learners->train(step, rate, batch, attendees ? &*attendees : nullptr);
    ranks.add(trained.ranks);
    const bool everyone = !attendees || attendees->sites.size() == batch.size();
    store.add(std::move(trained.structure), std::move(trained.sizes),
              everyone ? std::vector<std::int32_t>() : attendees->sites);
    if (attendance != nullptr) attendance->took(trajectory);

    const std::int64_t done = step + 1;
    const bool last = done == steps || !trained.finite;
    if (done % trajectory.steps_per_epoch == 0 || last) {
      ranks.close(static_cast<std::int32_t>((done + trajectory.steps_per_epoch - 1) / trajectory.steps_per_epoch),
                  trajectory.ranks);
    }
    if (!trained.finite) {
      trajectory.diverged_at = done;
      trajectory.curve.push_back(evaluated(done, learners->networks()));
      break;
    }
    if (done % every == 0 || last) {
      const RecentWeights::Networks networks = learners->networks();
      step::Evaluation now = evaluated(done, networks);
      if (between) {
        between->add_to(trajectory.curve, std::move(now), networks, evaluated);
      } else {
        trajectory.curve.push_back(std::move(now));
      }
      if (training.stop == spec::TrainingSpec::Stop::target &&
          trajectory.curve.back().accuracy >= training.last_target()) {
        ranks.close(static_cast<std::int32_t>((done + trajectory.steps_per_epoch - 1) / trajectory.steps_per_epoch),
                    trajectory.ranks);
        break;
      }
    } else if (between && between->wants(done)) {
      between->keep(done, learners->networks());
    }
    if (observer.progress) observer.progress(done, steps);
    if (observer.cancelled != nullptr && observer.cancelled->load(std::memory_order_relaxed)) throw Cancelled();
  }
  if (meter) trajectory.leak = leak_of(run, *meter);
  return trajectory;
}

step::Trajectory record_beside(const spec::RunSpec& run, const LearningProblem& problem,
                               const step::Trajectory& learned, bool measures_leak) {
  Batches batches(problem.training, problem.partition, problem.seed);
  step::Trajectory trajectory;
  trajectory.steps_per_epoch = learned.steps_per_epoch;
  trajectory.curve = learned.curve;
  trajectory.diverged_at = learned.diverged_at;
  const auto steps = static_cast<std::int64_t>(learned.steps.size());
  const std::unique_ptr<Learners> learners = make_learners(run, problem, steps);
  std::unique_ptr<ExchangeLeak> meter;
  if (measures_leak) meter = meter_leak(run, problem, *learners, steps, true);
  StepStore store(trajectory);
  struct KnownStep {
    std::int32_t stored = 0;
    std::int64_t step = 0;
  };
  std::map<std::vector<std::size_t>, KnownStep> known;  // key: sizes of the batches
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = batches.next();
    std::vector<std::size_t> sizes;
    for (const std::vector<std::int32_t>& of_site : batch) sizes.push_back(of_site.size());
    if (const auto same = known.find(sizes); same != known.end()) {
      trajectory.steps.push_back(same->second.stored);
      if (meter) meter->take_over(step, batch, same->second.step);
      continue;
    }
    const double rate = models::learning_rate(problem.training.optimizer, problem.training.schedule, step,
                                              trajectory.steps_per_epoch, steps);
    Learners::LearnerStep trained = learners->train(step, rate, batch);
    if (!trained.sizes.slots.empty()) throw std::logic_error(run.label + ": an exact step must not have learned sizes");
    store.add(std::move(trained.structure), std::move(trained.sizes));
    known.emplace(std::move(sizes), KnownStep{trajectory.steps.back(), step});
  }
  if (meter) trajectory.leak = leak_of(run, *meter);
  return trajectory;
}

}  // namespace dadsim::algorithms
