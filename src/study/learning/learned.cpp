#include "study/learning/learned.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "algorithms/batches.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/registry.hpp"
#include "models/network.hpp"
#include "protocols/registry.hpp"
#include "scenario/document/print.hpp"
#include "scenario/elements/stand_in.hpp"
#include "schedule/censored_rank.hpp"
#include "spec/model_shape.hpp"
#include "study/layer_choices/layer_choices.hpp"
#include "study/learning/learned_bytes.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/outages_of.hpp"
#include "study/setting/problem_of_run.hpp"
#include "study/setting/run_check.hpp"
#include "study/setting/scale_setting.hpp"
#include "study/setting/timed_as.hpp"
#include "support/diagnostics.hpp"
#include "support/fingerprint.hpp"
#include "support/interrupt.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

/// Returns the settings of a training that ends after `steps` steps, or earlier if `training` does.
spec::TrainingSpec first_steps(const spec::TrainingSpec& training, const Problem& problem, std::uint64_t seed,
                               int steps) {
  spec::TrainingSpec few_steps = training;
  const algorithms::Batches batches(training, problem.partition, seed);
  few_steps.epochs =
      std::min(training.epochs, static_cast<double>(steps) / static_cast<double>(batches.steps_per_epoch()));
  few_steps.stop = spec::TrainingSpec::Stop::budget;
  return few_steps;
}

/// Returns the quality of always guessing the most frequent class.
report::Guess guess_of(const models::Samples& test) {
  std::map<std::int32_t, double> counts;
  for (const std::int32_t label : test.labels) counts[label] += 1;
  const auto all = static_cast<double>(test.labels.size());
  report::Guess guess;
  for (const auto& [label, count] : counts) {
    guess.chance = std::max(guess.chance, count / all);
    guess.loss -= count / all * std::log(count / all);
  }
  guess.deviation = std::sqrt(guess.chance * (1 - guess.chance) / all);
  return guess;
}

/// Removes the learned numbers; keeps the computations and messages of a run's steps.
void forget_what_was_learned(LearnedRun& run) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  step::Trajectory& trajectory = run.trajectory;
  const double cap = schedule::assume_rank_cap(trajectory);
  for (step::Evaluation& at : trajectory.curve) at = {at.step, kNone, kNone, kNone, {}};
  trajectory.ranks.clear();
  trajectory.diverged_at = 0;
  if (cap > 0) run.remarks.push_back(report::Statement{"ranks-at-cap"}.with("cap", cap));
}

/// Throws InputError if the scenario needs learning. The scenario may have been read for learning and then timed
/// without.
void refuse_what_must_be_learned(const scenario::Scenario& scenario) {
  std::vector<Diagnostic> errors;
  for (const auto& [run, fault] : faults_where_nothing_is_learned(scenario)) {
    errors.push_back(
        {scenario.file, 0, fmt::format("run '{}': {}", scenario.runs[run].label, fault.what), fault.remedy});
  }
  if (!errors.empty()) throw InputError(std::move(errors));
}

/// Returns the settled run (see settled()), because learning may depend on the choices for the timed network's layers.
spec::RunSpec settle(const scenario::Scenario& scenario, SharedCache& shared_cache, const spec::RunSpec& run,
                     const spec::TrainingSpec& training, std::uint64_t seed) {
  if (!may_be_settled(run)) return run;
  const std::shared_ptr<const Problem> problem = shared_cache.problem(scenario, seed);
  const auto shape = spec::model_shape(scenario.model, problem->data.shape);
  const double rows =
      algorithms::planned_run({problem->data, problem->partition, scenario.model, training, seed}).batch;
  const TimedAs timed = timed_as_of(scenario, shape, rows / static_cast<double>(problem->partition.size()));
  return settled(run, shape, timed, cluster_of(scenario), [&] {
    // More than one step is learned, because effective ranks rise in the first steps.
    constexpr int kSteps = 20;
    const spec::TrainingSpec few_steps = first_steps(training, *problem, seed, kSteps);
    return algorithms::learn(run, {problem->data, problem->partition, scenario.model, few_steps, seed},
                             {.progress = {}, .measures_leak = false});
  });
}

/// Adds the remarks and the privacy spent of a run taken on its cluster. `begun`: steps that each site has begun;
/// empty: each site has begun all steps.
void tell_how_it_went(const scenario::Scenario& scenario, const spec::RunSpec& run, const models::Dataset& data,
                      const algorithms::RunContext& planned, std::uint64_t seed, std::vector<std::int64_t> begun,
                      LearnedRun& result) {
  const methods::MethodInfo* info = protocols::find_method(run.algorithm);
  if (info != nullptr && info->remark) {
    methods::RunFacts facts{run,
                            scenario::participants_of(scenario, run),
                            &scenario.model,
                            data.shape,
                            seed,
                            planned,
                            planned,
                            scenario.stand_in};
    if (!scenario.timing_only) {
      facts.taken->steps = static_cast<std::int64_t>(result.trajectory.steps.size());
      facts.taken->begun = std::move(begun);
    }
    if (std::string remark = info->remark(facts); !remark.empty())
      result.remarks.push_back(report::Statement{"remark"}.with("text", std::move(remark)));
    if (info->privacy && result.trajectory.leak) {
      if (const auto spent = info->privacy(facts)) add_privacy(*spent, *result.trajectory.leak);
    }
  }
  if (scenario.timing_only) forget_what_was_learned(result);
}

class Learner {
 public:
  Learner(const scenario::Scenario& scenario, LearningStore* store, std::shared_ptr<SharedCache> shared_cache,
          bool show_progress)
      : scenario_(scenario), store_(store), show_progress_(show_progress), shared_cache_(std::move(shared_cache)) {}

  /// Learns the runs that the store lacks, in parallel.
  std::vector<LearnedRunPtr> learn(const std::vector<spec::RunSpec>& asked_runs, const spec::TrainingSpec& training,
                                   std::uint64_t seed) {
    std::vector<spec::RunSpec> runs;
    for (const spec::RunSpec& run : asked_runs)
      runs.push_back(scenario_.timing_only ? run : settle(scenario_, *shared_cache_, run, training, seed));
    std::vector<LearnedRunPtr> learned(runs.size());
    std::vector<std::uint64_t> keys(runs.size());
    std::vector<std::size_t> missing;
    const std::optional<std::size_t> leader = first_exact(runs);
    const auto follows = [&](std::size_t i) { return leader && i > *leader && learns_the_pooled_gradient(runs[i]); };
    for (std::size_t i = 0; i < runs.size(); ++i) {
      // A run that learns on its cluster gets no key, because the key would not cover the cluster.
      if (!learns_on_cluster(scenario_, runs[i])) {
        keys[i] = learning_hash_of(scenario_, runs[i], training, seed);
        if (follows(i)) keys[i] = fingerprint(fmt::format("{} beside {}", keys[i], keys[*leader]));
        if (store_ != nullptr) learned[i] = store_->find(keys[i]);
      }
      if (!learned[i]) missing.push_back(i);
    }
    // Runs that differ only in failures or sum algorithms learn the same; they are learned once.
    const auto same_as = [&](std::size_t i) -> std::size_t {
      for (const std::size_t earlier : missing) {
        if (earlier == i || learns_on_cluster(scenario_, runs[i])) return i;
        if (!learns_on_cluster(scenario_, runs[earlier]) && keys[earlier] == keys[i]) return earlier;
      }
      return i;
    };
    if (missing.empty()) return learned;
    const std::shared_ptr<const Problem> of_seed = shared_cache_->problem(scenario_, seed);
    const Problem& problem = *of_seed;
    const models::Network network(problem.data.shape, scenario_.model, seed);
    const spec::TrainingSpec taken =
        scenario_.timing_only ? first_steps(training, problem, seed, scenario::kRecordedSteps) : training;
    const auto problem_of = [&](const spec::RunSpec& run, const spec::TrainingSpec& steps) {
      return ProblemOfRun(scenario_, run, problem.data, problem.partition, steps, seed);
    };
    // Plans the whole training even if only some steps are recorded, because remarks refer to all steps.
    const algorithms::RunContext planned =
        algorithms::planned_run({problem.data, problem.partition, scenario_.model, training, seed});
    const auto facts_of = [&](const spec::RunSpec& run) {
      const algorithms::RunContext of_run = algorithms::planned_run(problem_of(run, training).asked());
      return methods::RunFacts{run,
                               scenario::participants_of(scenario_, run),
                               &scenario_.model,
                               problem.data.shape,
                               seed,
                               of_run,
                               of_run,
                               scenario_.stand_in};
    };
    Progress progress("learning", missing.size(), show_progress_);
    const auto learn_one = [&](std::size_t part, const LearnedRun* beside) {
      const spec::RunSpec& run = runs[missing[part]];
      algorithms::LearningObserver observer;
      observer.progress = [&progress, part](std::int64_t done, std::int64_t all) { progress.update(part, done, all); };
      observer.cancelled = &interrupted();
      observer.measures_leak = !scenario_.timing_only;
      auto result = std::make_shared<LearnedRun>();
      const ProblemOfRun own = problem_of(run, taken);
      if (beside != nullptr) {
        result->trajectory = record_beside(run, own.asked(), beside->trajectory, observer.measures_leak);
      } else if (!learns_on_cluster(scenario_, run)) {
        result->trajectory = dadsim::algorithms::learn(run, own.asked(), observer);
      }
      result->shape = network.shape();
      result->data = problem.data.name;
      result->has_batch_statistics = network.has_batch_statistics();
      result->guess = guess_of(problem.data.test);
      result->rows = planned.batch / static_cast<double>(problem.partition.size());
      const methods::MethodInfo* info = protocols::find_method(run.algorithm);
      const bool later = learns_on_cluster(scenario_, run) && !run.event_driven;  // its remarks follow the learning
      if (info != nullptr && info->remark && !later) {
        methods::RunFacts facts = facts_of(run);
        if (!scenario_.timing_only) facts.taken->steps = static_cast<std::int64_t>(result->trajectory.steps.size());
        if (std::string remark = info->remark(facts); !remark.empty())
          result->remarks.push_back(report::Statement{"remark"}.with("text", std::move(remark)));
      }
      if (info != nullptr && info->privacy && result->trajectory.leak) {
        methods::RunFacts facts = facts_of(run);
        facts.taken->steps = static_cast<std::int64_t>(result->trajectory.steps.size());
        if (const auto spent = info->privacy(facts)) add_privacy(*spent, *result->trajectory.leak);
      }
      if (scenario_.timing_only && !learns_on_cluster(scenario_, run)) forget_what_was_learned(*result);
      if (beside != nullptr) result->remarks.push_back({"learned-as", {runs[*leader].label}});
      learned[missing[part]] = std::move(result);
    };
    std::vector<std::size_t> first, then;  // indices in `missing`, in order of learning
    for (std::size_t part = 0; part < missing.size(); ++part) {
      if (same_as(missing[part]) != missing[part]) continue;
      (follows(missing[part]) ? then : first).push_back(part);
    }
    parallel_for(first.size(), [&](std::size_t i) { learn_one(first[i], nullptr); });
    parallel_for(then.size(), [&](std::size_t i) { learn_one(then[i], learned[*leader].get()); });
    for (const std::size_t i : missing) {
      if (!learned[i]) learned[i] = learned[same_as(i)];
      if (store_ != nullptr && !learns_on_cluster(scenario_, runs[i])) store_->keep(keys[i], learned[i]);
    }
    return learned;
  }

 private:
  std::optional<std::size_t> first_exact(const std::vector<spec::RunSpec>& runs) const {
    if (!scenario_.training.exact_once) return std::nullopt;
    const auto found =
        std::ranges::find_if(runs, [&](const spec::RunSpec& run) { return learns_the_pooled_gradient(run); });
    if (found == runs.end()) return std::nullopt;
    return static_cast<std::size_t>(found - runs.begin());
  }

  const scenario::Scenario& scenario_;
  LearningStore* store_;
  bool show_progress_;
  std::shared_ptr<SharedCache> shared_cache_;
};

}  // namespace

void add_privacy(const methods::PrivacySpent& spent, step::Leak& leak) {
  for (step::AdversaryLeak& one : leak.adversaries) {
    const bool holds = one.adversary == step::Adversary::site || spent.messages ||
                       (one.adversary == step::Adversary::secure_aggregator && spent.sums_of_sites);
    if (!holds) continue;
    one.epsilon = spent.epsilon;
    one.delta = spent.delta;
  }
}

bool learns_the_pooled_gradient(const spec::RunSpec& run) {
  const methods::MethodInfo* info = algorithms::algorithm_registry().find(run.algorithm);
  if (info == nullptr || run.event_driven || !info->exact(run)) return false;
  if (run.weights != spec::SiteWeights::published || run.absence.goes_without()) return false;
  // Islands draw their batches from the data of several workers.
  return info->sharing == algorithms::Sharing::one_network && run.compress.method == "none" &&
         !has_own_layers(*info, run) && spec::islands_of(run.parameters) == 0;
}

namespace {

double bytes_of(const LearnedRun& run) {
  double bytes = 0;
  for (const step::Step& step : run.trajectory.distinct_steps) {
    bytes += sizeof step + 4.0 * static_cast<double>(step.sizes.samples.size());
    for (const auto& numbers : step.sizes.slots)
      bytes += sizeof(std::vector<std::int32_t>) + 4.0 * static_cast<double>(numbers.size());
  }
  return bytes + 4.0 * static_cast<double>(run.trajectory.steps.size());
}

}  // namespace

LearningStore::LearningStore(std::shared_ptr<Records> records, std::shared_ptr<SharedCache> shared_cache)
    : runs_(1e9), records_(std::move(records)), shared_cache_(std::move(shared_cache)) {}

LearnedRunPtr LearningStore::find(std::uint64_t key) {
  if (std::optional<LearnedRunPtr> known = runs_.find(key)) return *known;
  LearnedRunPtr run;
  if (const auto offered = offered_.find(key); offered != offered_.end()) {
    run = offered->second;
  } else if (const auto bytes = records_ != nullptr ? records_->find(record_key(key)) : std::nullopt) {
    run = learned_from_bytes(*bytes);
  }
  if (run) runs_.keep(key, run, bytes_of(*run));
  return run;
}

void LearningStore::keep(std::uint64_t key, const LearnedRunPtr& run) {
  ++learned_;
  runs_.keep(key, run, bytes_of(*run));
  if (records_ != nullptr) records_->keep(Records::kLearned, record_key(key), 0, [run] { return to_bytes(*run); });
}

const std::shared_ptr<SharedCache>& LearningStore::shared_cache() {
  if (!shared_cache_) shared_cache_ = std::make_shared<SharedCache>();
  return shared_cache_;
}

LearnedRunPtr learn_attended(const scenario::Scenario& scenario, const spec::RunSpec& run, const LearnedRun& described,
                             SharedCache& shared_cache, std::uint64_t seed, algorithms::Attendance& attendance) {
  const std::shared_ptr<const Problem> problem = shared_cache.problem(scenario, seed);
  spec::TrainingSpec training = scenario.training;
  if (seed != scenario.seed) training.stop = spec::TrainingSpec::Stop::target;
  const spec::TrainingSpec taken =
      scenario.timing_only ? first_steps(training, *problem, seed, scenario::kRecordedSteps) : training;
  algorithms::LearningObserver observer;
  observer.cancelled = &interrupted();
  observer.measures_leak = !scenario.timing_only;
  const methods::MethodInfo* info = protocols::find_method(run.algorithm);
  const algorithms::RunContext planned =
      algorithms::planned_run({problem->data, problem->partition, scenario.model, training, seed});
  // Noise is calibrated to the planned steps. The run ends when a site has begun that many steps, because its privacy
  // budget (ε) is spent.
  if (info != nullptr && info->privacy && info->asks_for_plan(run.parameters)) attendance.limit_begun(planned.steps);
  auto result = std::make_shared<LearnedRun>(described);
  result->trajectory =
      algorithms::learn(run, {problem->data, problem->partition, scenario.model, taken, seed}, observer, &attendance);
  tell_how_it_went(scenario, run, problem->data, planned, seed, attendance.begun(), *result);
  return result;
}

LearnedRunPtr learn_first_steps(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                const LearnedRun& described, SharedCache& shared_cache, std::uint64_t seed,
                                std::int64_t steps) {
  const std::shared_ptr<const Problem> problem = shared_cache.problem(scenario, seed);
  const algorithms::RunContext planned =
      algorithms::planned_run({problem->data, problem->partition, scenario.model, scenario.training, seed});
  spec::TrainingSpec training = scenario.timing_only
                                    ? first_steps(scenario.training, *problem, seed, scenario::kRecordedSteps)
                                    : scenario.training;
  training.stop = spec::TrainingSpec::Stop::budget;
  algorithms::LearningObserver observer;
  observer.cancelled = &interrupted();
  observer.most_steps = steps;
  observer.measures_leak = !scenario.timing_only;
  auto result = std::make_shared<LearnedRun>(described);
  result->remarks.clear();
  const spec::RunSpec taken = scenario.timing_only ? run : settle(scenario, shared_cache, run, scenario.training, seed);
  result->trajectory =
      algorithms::learn(taken, {problem->data, problem->partition, scenario.model, training, seed}, observer);
  tell_how_it_went(scenario, run, problem->data, planned, seed, {}, *result);
  return result;
}

Learned learn_scenario(const scenario::Scenario& scenario, LearningStore* store, bool show_progress) {
  const auto start = std::chrono::steady_clock::now();
  Learned learned;
  learned.nothing = scenario.timing_only;
  if (learned.nothing) refuse_what_must_be_learned(scenario);
  learned.shared_cache = store != nullptr ? store->shared_cache() : std::make_shared<SharedCache>();
  Learner learner(scenario, store, learned.shared_cache, show_progress);
  learned.runs = learner.learn(scenario.runs, scenario.training, scenario.seed);
  if (!learned.nothing && scale_setting(scenario)) {
    // Later seeds need only the steps to the target.
    spec::TrainingSpec training = scenario.training;
    training.stop = spec::TrainingSpec::Stop::target;
    const bool beside = needs_reference(scenario);
    if (beside) learned.reference = learner.learn({study::reference_run()}, training, scenario.seed);
    for (std::int64_t i = 1; i < training.seeds; ++i) {
      std::vector<spec::RunSpec> runs = scenario.runs;
      if (beside) runs.push_back(study::reference_run());
      std::vector<LearnedRunPtr> others = learner.learn(runs, training, scenario.seed + static_cast<std::uint64_t>(i));
      if (beside) {
        learned.reference.push_back(others.back());
        others.pop_back();
      }
      learned.other_seeds.push_back(std::move(others));
    }
  }
  // Frees memory that learning no longer needs: simulations are forked from here on, and forks are then faster.
  ::malloc_trim(0);
  learned.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return learned;
}

}  // namespace dadsim::study
