#include "sim/step_plan.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace dadsim {
namespace {

/// Of what most often makes a difference; whether two are equal is looked at where it is the same.
std::uint64_t fingerprint_of(const Schedule& schedule) {
  std::uint64_t mixed = schedule.workers;
  const auto add = [&mixed](double value) {
    mixed = std::rotl(mixed ^ std::bit_cast<std::uint64_t>(value), 23) * 0x9e3779b97f4a7c15U;
  };
  const auto add_all = [&](const PerWorker& values, std::size_t count) {
    for (std::size_t i = 0; i < (values.is_uniform() ? 1 : count); ++i) add(values[i]);
  };
  for (const Task& task : schedule.tasks) {
    if (const auto* compute = std::get_if<ComputeTask>(&task.what)) {
      add_all(compute->flops, schedule.workers);
      add_all(compute->bytes_moved, schedule.workers);
    } else if (const auto* collective = std::get_if<CollectiveTask>(&task.what)) {
      add_all(collective->bytes, schedule.workers);
    }
  }
  return mixed;
}

/// How large a schedule is, to put it in order among others of its run.
StepSample::Step size_of(const Schedule& schedule) {
  StepSample::Step size{.occurrences = 0};
  for (const Task& task : schedule.tasks) {
    if (const auto* compute = std::get_if<ComputeTask>(&task.what)) {
      const std::size_t count = compute->who == Role::workers ? schedule.workers : 1;
      for (std::size_t i = 0; i < count; ++i) size.flops += compute->flops[i];
    } else if (const auto* collective = std::get_if<CollectiveTask>(&task.what)) {
      for (std::size_t i = 0; i < schedule.workers; ++i)
        size.bytes += collective->bytes[collective->kind == CollectiveKind::broadcast ? 0 : i];
    }
  }
  return size;
}

/// Schedules of which no two are equal.
class Kinds {
 public:
  explicit Kinds(std::span<const Schedule> schedules) : schedules_(schedules) {}

  std::size_t add_new(std::size_t schedule) {
    first_.push_back(schedule);
    return first_.size() - 1;
  }
  std::size_t find_or_add(std::size_t schedule) {
    const std::uint64_t key = fingerprint_of(schedules_[schedule]);
    const auto [from, to] = known_.equal_range(key);
    for (auto one = from; one != to; ++one) {
      if (schedules_[first_[one->second]] == schedules_[schedule]) return one->second;
    }
    known_.emplace(key, first_.size());
    return add_new(schedule);
  }
  const std::vector<std::size_t>& first() const { return first_; }  ///< per kind: where it occurs first

 private:
  std::span<const Schedule> schedules_;
  std::vector<std::size_t> first_;
  std::unordered_multimap<std::uint64_t, std::size_t> known_;
};

}  // namespace

StepPlan::StepPlan(std::span<const Schedule> schedules, const Asked& asked) {
  if (!asked.occurrences.empty() && asked.occurrences.size() != schedules.size()) {
    throw std::invalid_argument(
        fmt::format("{} occurrences for {} schedules", asked.occurrences.size(), schedules.size()));
  }
  Kinds kinds(schedules);
  std::vector<double> occurrences;  // per kind
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    kind_of_.push_back(asked.every_step ? kinds.add_new(i) : kinds.find_or_add(i));
    occurrences.resize(kinds.first().size());
    occurrences[kind_of_.back()] += asked.occurrences.empty() ? 1 : asked.occurrences[i];
  }
  const std::size_t count = kinds.first().size();
  std::vector<bool> traced(count);
  for (const std::size_t schedule : asked.trace) traced[kind_of_.at(schedule)] = true;

  place_of_kind_.assign(count, count);
  const auto simulate = [&](std::size_t kind, double times) {
    place_of_kind_[kind] = simulated_.size();
    simulated_.push_back({kinds.first()[kind], times, traced[kind]});
  };
  if (!asked.every_step && asked.most > 0 && asked.most < count) {
    std::vector<StepSample::Step> sizes;
    for (std::size_t kind = 0; kind < count; ++kind) {
      sizes.push_back(size_of(schedules[kinds.first()[kind]]));
      sizes.back().occurrences = occurrences[kind];
    }
    sample_.emplace(std::move(sizes), asked.most);
    for (std::size_t i = 0; i < sample_->picked().size(); ++i) simulate(sample_->picked()[i], sample_->weights()[i]);
  } else {
    for (std::size_t kind = 0; kind < count; ++kind) simulate(kind, occurrences[kind]);
  }
  of_run_ = simulated_.size();
  for (std::size_t kind = 0; kind < count; ++kind) {
    if (traced[kind] && place_of_kind_[kind] == count) simulate(kind, 0);
  }
  for (std::size_t kind = 0; kind < count; ++kind) {
    if (place_of_kind_[kind] < count) continue;
    place_of_kind_[kind] = simulated_.size() + others_.size();
    others_.push_back(kinds.first()[kind]);
  }
}

std::size_t StepPlan::done_after(std::size_t simulated) const {
  if (sample_) return kind_of_.size() * simulated / simulated_.size();
  std::size_t done = 0;
  while (done < kind_of_.size() && kind_of_[done] < simulated) ++done;
  return done;
}

std::vector<StepTiming> StepPlan::timings_of_all(std::vector<StepTiming> simulated, std::vector<Traffic> others) const {
  std::vector<StepTiming> kinds;
  if (sample_) {
    kinds = sample_->interpolate(simulated);
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const std::size_t place = place_of_kind_[kind];
      const bool is_simulated = place < simulated_.size();
      kinds[kind].bytes_sent =
          is_simulated ? simulated.at(place).bytes_sent : others.at(place - simulated_.size()).sent;
      kinds[kind].bytes_received =
          is_simulated ? simulated.at(place).bytes_received : others.at(place - simulated_.size()).received;
    }
  } else {
    kinds = std::move(simulated);
  }
  if (kinds.size() == kind_of_.size()) return kinds;  // no two are equal: each is its own kind
  std::vector<StepTiming> timings;
  timings.reserve(kind_of_.size());
  for (const std::size_t kind : kind_of_) timings.push_back(kinds.at(kind));
  return timings;
}

std::optional<NetworkUse::Sampling> StepPlan::sampling(const std::vector<StepTiming>& simulated) const {
  if (!sample_) return std::nullopt;
  const StepSample::Error error = sample_->error(simulated);
  return NetworkUse::Sampling{.steps = static_cast<double>(place_of_kind_.size()),
                              .simulated = static_cast<double>(of_run_),
                              .step_error = error.step,
                              .mean_error = error.mean};
}

}  // namespace dadsim
