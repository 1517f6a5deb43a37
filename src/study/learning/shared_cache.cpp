#include "study/learning/shared_cache.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "models/data/site_shift.hpp"
#include "scenario/document/print.hpp"

namespace dadsim::study {
namespace {

/// Returns a hash of everything that a simulation of the run may depend on: the scenario without what is only computed
/// from its times.
std::string question_of(const scenario::Scenario& scenario, std::size_t run) {
  scenario::Scenario some = scenario;
  some.costs.reset();
  some.metric = {};
  some.runs = {scenario.runs[run]};
  if (some.timed_as) {
    spec::TimedAsSpec& timed = *some.timed_as;
    timed.steps = timed.epochs = timed.samples = timed.tokens = {};
    timed.target.clear();
    timed.evaluation_every = 0;
    timed.evaluation_seconds = timed.start_up = 0;
  }
  return fmt::format("{:016x} {}", scenario::hash_of(some), run);
}

}  // namespace

sim::TimedRun TimingMemory::of(const scenario::Scenario& scenario, std::size_t run,
                               const std::function<sim::TimedRun()>& simulate) {
  return *runs_.answer(question_of(scenario, run), [&] { return std::make_shared<const sim::TimedRun>(simulate()); });
}

Problem::Problem(const scenario::Scenario& scenario, std::uint64_t seed)
    : data(models::load_dataset(scenario.data, seed)),
      partition(split_over_sites(scenario.data.split, data.train, data.classes, scenario.workers.size(), seed)) {
  apply_site_shift(data, partition, scenario.data.shift, seed);
  drift = make_drift(scenario.data.drifts, data, partition, seed);
}

world::DatumPtr MemoryHistoryStore::claim(const world::ValueKey& key) {
  std::unique_lock lock(mutex_);
  released_.wait(lock, [&] { return !claimed_.contains(key); });
  world::DatumPtr datum = find(key);
  if (!datum) claimed_.insert(key);
  return datum;
}

void MemoryHistoryStore::release(const world::ValueKey& key) {
  {
    const std::lock_guard lock(mutex_);
    claimed_.erase(key);
  }
  released_.notify_all();
}

void MemoryHistoryStore::keep(const world::ValueKey& key, const world::DatumPtr& datum) {
  data_.keep(key, datum, static_cast<double>(datum->bytes()));
  release(key);
}

SharedCache::SharedCache(std::shared_ptr<world::HistoryStore> histories)
    : histories_(histories ? std::move(histories) : std::make_shared<MemoryHistoryStore>(1e9)) {}

std::shared_ptr<const Problem> SharedCache::problem(const scenario::Scenario& scenario, std::uint64_t seed) {
  const std::uint64_t key = scenario::problem_hash_of(scenario, seed);
  const std::lock_guard lock(mutex_);
  if (!problem_ || key != key_) {
    problem_.reset();
    problem_ = std::make_shared<const Problem>(scenario, seed);
    key_ = key;
  }
  return problem_;
}

}  // namespace dadsim::study
