#include "study/learning/shared_cache.hpp"

#include <fmt/format.h>

#include <optional>

#include "models/data/site_shift.hpp"
#include "scenario/document/print.hpp"
#include "study/learning/learned_bytes.hpp"

namespace dadsim::study {
namespace {

/// Returns a hash of all inputs of the run's simulation: the scenario without settings that only evaluate its times.
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

KeptHistories::KeptHistories(std::shared_ptr<HistoryMemory> memory, std::shared_ptr<Records> records)
    : shares_memory_(memory != nullptr),
      memory_(memory != nullptr ? std::move(memory) : std::make_shared<HistoryMemory>(1e9)),
      records_(std::move(records)) {}

world::DatumPtr KeptHistories::find(const world::ValueKey& key) {
  if (std::optional<world::DatumPtr> datum = memory_->find(key)) {
    if (shares_memory_) record(key, *datum);
    return *datum;
  }
  if (records_ == nullptr) return nullptr;
  const std::optional<std::string> bytes = records_->find(record_key(key));
  world::DatumPtr datum = bytes ? datum_from_bytes(*bytes) : nullptr;
  if (datum) memory_->keep(key, datum, static_cast<double>(datum->bytes()));
  return datum;
}

world::DatumPtr KeptHistories::claim(const world::ValueKey& key) {
  const world::DatumPtr datum = memory_->claim(key).value_or(nullptr);
  if (datum && shares_memory_) record(key, datum);
  return datum;
}

void KeptHistories::keep(const world::ValueKey& key, const world::DatumPtr& datum) {
  memory_->keep(key, datum, static_cast<double>(datum->bytes()));
  record(key, datum);
}

void KeptHistories::record(const world::ValueKey& key, const world::DatumPtr& datum) {
  if (records_ == nullptr) return;
  records_->keep(datum->numbers.empty() ? Records::kEvaluation : Records::kWeights, record_key(key), datum->bytes(),
                 [datum] { return to_bytes(*datum); });
}

void KeptHistories::flush() {
  if (records_ != nullptr) records_->flush();
}

std::shared_ptr<const Problem> SharedCache::problem(const scenario::Scenario& scenario, std::uint64_t seed) {
  return problem_.answer(scenario::problem_hash_of(scenario, seed),
                         [&] { return std::make_shared<const Problem>(scenario, seed); });
}

}  // namespace dadsim::study
