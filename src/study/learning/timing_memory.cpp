#include "study/learning/timing_memory.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "scenario/document/print.hpp"

namespace dadsim::study {
namespace {

/// All that a simulation of the run may depend on: the scenario without what is worked out of its times alone.
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

}  // namespace dadsim::study
