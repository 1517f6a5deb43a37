#include "study/learning/learned.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <utility>

#include "algorithms/batches.hpp"
#include "algorithms/flexible/plan.hpp"
#include "algorithms/learn.hpp"
#include "algorithms/registry.hpp"
#include "compress/registry.hpp"
#include "models/network.hpp"
#include "scenario/document/print.hpp"
#include "scenario/elements/stand_in.hpp"
#include "spec/model_shape.hpp"
#include "step/censored_rank.hpp"
#include "study/choice/layer_choices.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/setting/cluster_of.hpp"
#include "study/setting/memory_check.hpp"
#include "study/setting/scale_setting.hpp"
#include "study/setting/timed_as.hpp"
#include "support/diagnostics.hpp"
#include "support/fingerprint.hpp"
#include "support/interrupt.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace dadsim::study {
namespace {

/// Training that ends after so many steps.
spec::TrainingSpec first_steps(const spec::TrainingSpec& training, const Problem& problem, std::uint64_t seed,
                               int steps) {
  spec::TrainingSpec few_steps = training;
  const algorithms::Batches batches(training, problem.partition, seed);
  few_steps.epochs =
      std::min(training.epochs, static_cast<double>(steps) / static_cast<double>(batches.steps_per_epoch()));
  few_steps.stop = spec::TrainingSpec::Stop::budget;
  return few_steps;
}

/// Leaves of a run what its steps compute and send.
void forget_what_was_learned(LearnedRun& run) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  step::Trajectory& trajectory = run.trajectory;
  const double cap = step::assume_rank_cap(trajectory);
  for (step::Evaluation& at : trajectory.curve) at = {at.step, kNone, kNone, kNone, {}};
  trajectory.ranks.clear();
  trajectory.diverged_at = 0;
  if (cap > 0) {
    run.remark += fmt::format(
        "{}its ranks are taken to be at their cap, {:.0f}, wherever a layer allows: what it sends and computes is an "
        "upper bound",
        run.remark.empty() ? "" : "; ", cap);
  }
}

/// What cannot be timed without having been learned.
void refuse_what_must_be_learned(const scenario::Scenario& scenario) {
  std::vector<Diagnostic> errors;
  bool event_driven = false;
  for (const spec::RunSpec& run : scenario.runs) {
    event_driven = event_driven || run.event_driven;
    const compress::CompressorInfo& compressor = compress::compressors().at(run.compress.method);
    if (!compressor.adapts || run.event_driven) continue;
    errors.push_back({scenario.file, 0,
                      fmt::format("run '{}': how much {} keeps is decided by the numbers it is given, and nothing is "
                                  "learned",
                                  run.label, run.compress.method),
                      "a compressor that keeps as much as its parameters say, or a scenario that learns"});
  }
  if (event_driven && scenario.training.stop == spec::TrainingSpec::Stop::target) {
    errors.push_back({scenario.file, 0, "--timing-only: <training stop=\"target\"> asks for accuracies",
                      "stop=\"budget\", or a number of rounds"});
  }
  if (!errors.empty()) throw InputError(std::move(errors));
}

class Learner {
 public:
  Learner(const scenario::Scenario& scenario, LearningStore* store, std::shared_ptr<SharedCache> shared_cache,
          bool show_progress)
      : scenario_(scenario), store_(store), show_progress_(show_progress), shared_cache_(std::move(shared_cache)) {}

  /// Those that the store lacks side by side.
  std::vector<LearnedRunPtr> learn(const std::vector<spec::RunSpec>& asked_runs, const spec::TrainingSpec& training,
                                   std::uint64_t seed) {
    std::vector<spec::RunSpec> runs;
    for (const spec::RunSpec& run : asked_runs)
      runs.push_back(scenario_.timing_only ? run : settle(run, training, seed));
    std::vector<LearnedRunPtr> learned(runs.size());
    std::vector<std::uint64_t> keys(runs.size());
    std::vector<std::size_t> missing;
    const std::optional<std::size_t> leader = first_exact(runs);
    const auto follows = [&](std::size_t i) { return leader && i > *leader && learns_the_pooled_gradient(runs[i]); };
    for (std::size_t i = 0; i < runs.size(); ++i) {
      // What is learned in the order of events must not be found under a key that knows no cluster.
      if (store_ != nullptr && !runs[i].event_driven) {
        keys[i] = learning_hash_of(scenario_, runs[i], training, seed);
        if (follows(i)) keys[i] = fingerprint(fmt::format("{} beside {}", keys[i], keys[*leader]));
        learned[i] = store_->find(keys[i]);
      }
      if (!learned[i]) missing.push_back(i);
    }
    if (missing.empty()) return learned;
    const std::shared_ptr<const Problem> of_seed = shared_cache_->problem(scenario_, seed);
    const Problem& problem = *of_seed;
    const models::Network network(problem.data.shape, scenario_.model, seed);
    if (!checked_) check_memory(scenario_, network.shape());
    checked_ = true;
    const algorithms::LearningProblem asked{
        problem.data, problem.partition, scenario_.model,
        scenario_.timing_only ? first_steps(training, problem, seed, scenario::kRecordedSteps) : training, seed};
    // Of the whole training, also where a few of its steps are recorded: what is said of it is not of these alone.
    const algorithms::RunContext planned =
        algorithms::planned_run({problem.data, problem.partition, scenario_.model, training, seed});
    const auto facts_of = [&](const spec::RunSpec& run) {
      return methods::RunFacts{run,     scenario_.workers.size(), &scenario_.model, problem.data.shape, seed, planned,
                               planned, scenario_.stand_in};
    };
    std::vector<Diagnostic> errors;
    for (const std::size_t i : missing) {
      const methods::MethodInfo* info = protocols::find_method(runs[i].algorithm);
      if (info == nullptr) continue;
      methods::RunFacts facts = facts_of(runs[i]);
      // What depends on the network was asked when the scenario was read; layers that choose have rules by now.
      facts.model = nullptr;
      for (const methods::RunFault& fault : faults_of(*info, facts))
        errors.push_back({scenario_.file, 0, fmt::format("run '{}': {}", runs[i].label, fault.what), fault.remedy});
    }
    if (!errors.empty()) throw InputError(std::move(errors));
    Progress progress("learning", missing.size(), show_progress_);
    const auto learn_one = [&](std::size_t part, const LearnedRun* beside) {
      const spec::RunSpec& run = runs[missing[part]];
      algorithms::LearningObserver observer;
      observer.progress = [&progress, part](std::int64_t done, std::int64_t all) { progress.update(part, done, all); };
      observer.cancelled = &interrupted();
      auto result = std::make_shared<LearnedRun>();
      if (beside != nullptr) {
        result->trajectory = record_beside(run, asked, beside->trajectory);
      } else if (!run.event_driven) {
        result->trajectory = dadsim::algorithms::learn(run, asked, observer);
      }
      result->shape = network.shape();
      result->data = problem.data.name;
      result->has_batch_statistics = network.has_batch_statistics();
      const methods::MethodInfo* info = protocols::find_method(run.algorithm);
      if (info != nullptr && info->remark) {
        methods::RunFacts facts = facts_of(run);
        if (!scenario_.timing_only) facts.taken->steps = static_cast<std::int64_t>(result->trajectory.steps.size());
        result->remark = info->remark(facts);
      }
      if (scenario_.timing_only && !run.event_driven) forget_what_was_learned(*result);
      if (beside != nullptr) {
        result->remark += fmt::format("{}learned as '{}' did: both are exact, and would differ by rounding",
                                      result->remark.empty() ? "" : "; ", runs[*leader].label);
      }
      learned[missing[part]] = std::move(result);
    };
    std::vector<std::size_t> first, then;  // parts of `missing`
    for (std::size_t part = 0; part < missing.size(); ++part) (follows(missing[part]) ? then : first).push_back(part);
    parallel_for(first.size(), [&](std::size_t i) { learn_one(first[i], nullptr); });
    parallel_for(then.size(), [&](std::size_t i) { learn_one(then[i], learned[*leader].get()); });
    for (const std::size_t i : missing) {
      if (store_ != nullptr && !runs[i].event_driven) store_->keep(keys[i], learned[i]);
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

  /// See settled(): what is learned may depend on what the layers of the timed network take.
  spec::RunSpec settle(const spec::RunSpec& run, const spec::TrainingSpec& training, std::uint64_t seed) const {
    if (!may_be_settled(run)) return run;
    const auto shape = spec::model_shape(scenario_.model, shared_cache_->problem(scenario_, seed)->data.shape);
    return settled(run, shape, timed_as_of(scenario_, shape), cluster_of(scenario_), [&] {
      const std::shared_ptr<const Problem> problem = shared_cache_->problem(scenario_, seed);
      // The first steps alone are not like the others: effective ranks rise.
      constexpr int kSteps = 20;
      const spec::TrainingSpec few_steps = first_steps(training, *problem, seed, kSteps);
      return algorithms::learn(run, {problem->data, problem->partition, scenario_.model, few_steps, seed});
    });
  }

  const scenario::Scenario& scenario_;
  LearningStore* store_;
  bool show_progress_;
  bool checked_ = false;  ///< the memory
  std::shared_ptr<SharedCache> shared_cache_;
};

}  // namespace

bool learns_the_pooled_gradient(const spec::RunSpec& run) {
  const methods::MethodInfo* info = algorithms::algorithm_registry().find(run.algorithm);
  if (info == nullptr || run.event_driven || !info->exact(run)) return false;
  return info->sharing == algorithms::Sharing::one_network && run.compress.method == "none" &&
         !has_own_layers(*info, run);
}

const std::shared_ptr<SharedCache>& LearningStore::shared_cache() {
  if (!shared_cache_) shared_cache_ = std::make_shared<SharedCache>();
  return shared_cache_;
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
    // Only the steps to the target are asked of what follows.
    spec::TrainingSpec training = scenario.training;
    training.stop = spec::TrainingSpec::Stop::target;
    const bool needs_reference = !reference_run_of(scenario);
    if (needs_reference) learned.reference = learner.learn({study::reference_run()}, training, scenario.seed);
    for (std::int64_t i = 1; i < training.seeds; ++i) {
      std::vector<spec::RunSpec> runs = scenario.runs;
      if (needs_reference) runs.push_back(study::reference_run());
      std::vector<LearnedRunPtr> others = learner.learn(runs, training, scenario.seed + static_cast<std::uint64_t>(i));
      if (needs_reference) {
        learned.reference.push_back(others.back());
        others.pop_back();
      }
      learned.other_seeds.push_back(std::move(others));
    }
  }
  // Simulations are forked from here on: a process without the memory that learning no longer needs is forked sooner.
  ::malloc_trim(0);
  learned.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return learned;
}

}  // namespace dadsim::study
