#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "study/store/memory_store.hpp"

namespace dadsim::study {

/// Runs that were simulated already, of scenarios that learn the same. Points of a sweep that differ in what a
/// simulation does not see (prices, budgets, what is asked) are simulated once. For several threads.
class TimingMemory {
 public:
  /// Run number `run` of a scenario on its own cluster: what `simulate` gives, now or for an earlier scenario.
  sim::TimedRun of(const scenario::Scenario& scenario, std::size_t run, const std::function<sim::TimedRun()>& simulate);

 private:
  AnswerMemory<std::shared_ptr<const sim::TimedRun>> runs_;
};

}  // namespace dadsim::study
