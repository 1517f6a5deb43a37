#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/document/load.hpp"
#include "study/learning/learned.hpp"
#include "study/store/memory_store.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace dadsim::study {

/// True if a process may fork while other threads run. A child gets a working allocator from the C library, but not
/// from AddressSanitizer and ThreadSanitizer (g++ 12): if another thread held their lock at the fork, the child would
/// wait forever.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kForksBesideThreads = false;
#else
inline constexpr bool kForksBesideThreads = true;
#endif

/// Does the same as parallel_for() for bodies that fork; sequentially if forking in parallel is not safe.
template <class Body>
void parallel_for_forks(std::size_t count, Body&& body) {
  if constexpr (kForksBesideThreads) {
    parallel_for(count, std::forward<Body>(body));
  } else {
    for (std::size_t i = 0; i < count; ++i) body(i);
  }
}

/// Why a trial has no result.
struct FailedOutcome {
  Fault fault{};               ///< message of the first fault
  std::string message;         ///< all faults, with their files and remedies
  std::exception_ptr error{};  ///< the original error; null: the trial has a result
  /// Returns all faults of the scenario. Rethrows the error if it did not come from loading.
  std::vector<Diagnostic> diagnostics() const;
};

/// The result of a trial, or the reason why there is none.
template <class Result>
struct Outcome : FailedOutcome {
  std::optional<Result> result{};
};

/// Calls `trial`. Returns why its scenario cannot be loaded, learned, divided or simulated; nothing on success. Throws
/// Cancelled, and any error that is not the scenario's fault.
FailedOutcome failure_of(const std::function<void()>& trial);

/// Calls `trial`, which loads, learns or times a scenario. Throws as failure_of() does.
template <class Trial>
auto outcome_of(const Trial& trial) {
  Outcome<decltype(trial())> outcome;
  static_cast<FailedOutcome&>(outcome) = failure_of([&] { outcome.result = trial(); });
  return outcome;
}

/// Cache of outcomes of trials that may fail, by their settings: equal trials run once.
template <class Result>
class Trials {
 public:
  /// Calls `trial` unless these assignments have been tried. Throws Cancelled, and errors of `trial` except those that
  /// mean infeasible.
  template <class Trial>
  Outcome<Result> outcome_of(const std::vector<std::string>& assignments, const Trial& trial) {
    if (interrupted().load()) throw Cancelled();
    return outcomes_.answer(assignments, [&] {
      Outcome<Result> outcome = study::outcome_of(trial);
      if (outcome.error != nullptr && !outcome.fault.infeasible) std::rethrow_exception(outcome.error);
      return outcome;
    });
  }

 private:
  MemoryStore<std::vector<std::string>, Outcome<Result>> outcomes_;
};

/// Calls trial(0), trial(1) … in parallel, and returns the outcome of each. Throws as outcome_of() does.
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

/// Returns a statement if a cluster's adapters are given by rate alone, which means Ethernet with TCP. Returns none for
/// other platforms and for event-driven learning.
std::optional<report::Statement> rate_as_tcp(const scenario::Scenario& scenario);

/// Adds the step times with TCP and with RDMA, of the first run that communicates, to the statement of rate_as_tcp().
void add_step_with_rdma(const scenario::ScenarioSource& source, const std::vector<std::string>& overrides,
                        const scenario::Scenario& scenario, const Learned& learned, report::Result& result);

}  // namespace dadsim::study
