#pragma once

#include "api/dadsim.hpp"
#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "study/learning/memory_store.hpp"
#include "study/sweep/results.hpp"

// What the classes of the interface keep behind their pointers.

namespace dadsim::api::inline v1 {

struct Scenario::State {
  scenario::Scenario scenario;
};

struct Learned::State {
  study::MemoryLearningStore store;
};

struct Result::State {
  report::Result result;
  std::vector<std::string> assumptions;  ///< in words
  std::vector<Run> runs;
};

struct Sweep::State {
  study::SweepResults results;
};

}  // namespace dadsim::api::inline v1
