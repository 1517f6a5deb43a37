#include "sim/step/step_selection.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace dadsim::sim {

StepSelection::StepSelection(std::size_t schedules, const schedule::StepKinds* kinds, const Asked& asked) {
  if (!asked.occurrences.empty() && asked.occurrences.size() != schedules) {
    throw std::invalid_argument(fmt::format("{} occurrences for {} schedules", asked.occurrences.size(), schedules));
  }
  const std::size_t count = kinds == nullptr ? schedules : kinds->kinds().size();
  std::vector<double> occurrences(count);  // number of occurrences of each kind
  for (std::size_t i = 0; i < schedules; ++i) {
    kind_of_.push_back(kinds == nullptr ? i : kinds->of().at(i));
    occurrences[kind_of_.back()] += asked.occurrences.empty() ? 1 : asked.occurrences[i];
  }
  std::vector<bool> traced(count);
  for (const std::size_t schedule : asked.trace) traced[kind_of_.at(schedule)] = true;

  place_of_kind_.assign(count, count);
  const auto simulate = [&](std::size_t kind, double times) {
    place_of_kind_[kind] = simulated_.size();
    simulated_.push_back({kinds == nullptr ? kind : kinds->kinds()[kind].first, times, traced[kind]});
  };
  if (kinds != nullptr && asked.most > 0 && asked.most < count) {
    std::vector<step::StepSample::SampledStep> sizes;
    sizes.reserve(count);
    for (std::size_t kind = 0; kind < count; ++kind) {
      sizes.push_back(kinds->kinds()[kind].size);
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
    others_.push_back(kind);
  }
}

std::size_t StepSelection::done_after(std::size_t simulated) const {
  if (sample_) return kind_of_.size() * simulated / simulated_.size();
  // Relies on kinds being numbered in the order of first occurrence, so that all schedules before the next kind are
  // done.
  return simulated < simulated_.size() ? simulated_[simulated].schedule : kind_of_.size();
}

std::vector<step::StepTiming> StepSelection::timings_of_all(std::vector<step::StepTiming> simulated,
                                                            std::vector<schedule::Traffic> others) const {
  if (simulated.size() != simulated_.size() || others.size() != others_.size()) {
    throw std::logic_error(fmt::format("{} timings and {} byte counts do not match {} and {} steps", simulated.size(),
                                       others.size(), simulated_.size(), others_.size()));
  }
  std::vector<step::StepTiming> kinds;
  if (sample_) {
    const std::vector<double> seconds = sample_->interpolate(seconds_of_run(simulated));
    kinds.resize(place_of_kind_.size());
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
      const std::size_t place = place_of_kind_[kind];
      if (place < of_run_) {
        kinds[kind] = std::move(simulated[place]);
        continue;
      }
      const bool for_trace = place < simulated_.size();
      schedule::Traffic traffic = for_trace ? schedule::Traffic{std::move(simulated[place].bytes_sent),
                                                                std::move(simulated[place].bytes_received)}
                                            : std::move(others[place - simulated_.size()]);
      kinds[kind].seconds = seconds[kind];
      kinds[kind].bytes_sent = std::move(traffic.sent);
      kinds[kind].bytes_received = std::move(traffic.received);
    }
  } else {
    kinds = std::move(simulated);
  }
  if (kinds.size() == kind_of_.size()) return kinds;  // no two schedules are equal: each has its own kind
  std::vector<step::StepTiming> timings;
  timings.reserve(kind_of_.size());
  for (const std::size_t kind : kind_of_) timings.push_back(kinds.at(kind));
  return timings;
}

std::vector<double> StepSelection::stand_for() const {
  std::vector<double> times;
  if (!sample_) return times;
  times.reserve(kind_of_.size());
  std::vector<bool> reported(place_of_kind_.size());
  for (const std::size_t kind : kind_of_) {
    const std::size_t place = place_of_kind_[kind];
    times.push_back(place < of_run_ && !reported[kind] ? simulated_[place].times : 0);
    reported[kind] = true;
  }
  return times;
}

std::optional<step::NetworkUse::Sampling> StepSelection::sampling(
    const std::vector<step::StepTiming>& simulated) const {
  if (!sample_) return std::nullopt;
  const step::StepSample::Error error = sample_->error(seconds_of_run(simulated));
  return step::NetworkUse::Sampling{.steps = static_cast<double>(place_of_kind_.size()),
                                    .simulated = static_cast<double>(of_run_),
                                    .step_error = error.step,
                                    .mean_error = error.mean};
}

std::vector<double> StepSelection::seconds_of_run(const std::vector<step::StepTiming>& simulated) const {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < of_run_; ++i) seconds.push_back(simulated.at(i).seconds);
  return seconds;
}

}  // namespace dadsim::sim
