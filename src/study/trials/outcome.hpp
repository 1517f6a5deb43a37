#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/parallel_forks.hpp"
#include "support/progress.hpp"

namespace dadsim::study {

/// The result of a trial, or why there is none.
template <class Result>
struct Outcome {
  std::optional<Result> result{};
  Fault fault{};        ///< the first one
  std::string message;  ///< all faults, with their files and remedies
};

/// Calls `trial`, and returns the fault where its scenario cannot be loaded, learned, divided or simulated, with all
/// faults as `message`; nothing where all went well. Throws Cancelled, and what is no fault of the scenario.
std::optional<Fault> fault_of(const std::function<void()>& trial, std::string& message);

/// Calls `trial`, which loads, learns or times a scenario. Throws as fault_of() does.
template <class Trial>
auto outcome_of(const Trial& trial) {
  Outcome<decltype(trial())> outcome;
  if (std::optional<Fault> fault = fault_of([&] { outcome.result = trial(); }, outcome.message))
    outcome.fault = *std::move(fault);
  return outcome;
}

/// Calls trial(0), trial(1) … side by side, and returns the outcome of each. Throws as outcome_of() does.
template <class Trial>
auto outcomes_of(std::size_t count, const Trial& trial, Progress* progress = nullptr) {
  std::vector<Outcome<decltype(trial(count))>> outcomes(count);
  parallel_for_forks(count, [&](std::size_t i) {
    if (interrupted().load()) throw Cancelled();
    outcomes[i] = outcome_of([&] { return trial(i); });
    if (progress != nullptr) progress->update(i, 1, 1);
  });
  return outcomes;
}

}  // namespace dadsim::study
