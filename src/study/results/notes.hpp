#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/data/dataset.hpp"
#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "schedule/assignment.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Returns the objectives of a scenario's runs, each with the labels of its runs.
std::map<std::string, std::vector<std::string>> objectives_of(const std::vector<spec::RunSpec>& runs,
                                                              const spec::TrainingSpec& training);

/// Returns the assumptions of every run of the result. `steps_known`: the workload's number of steps is known.
/// `partition`: the samples of each site; null if unknown, or if all runs have the same objective.
std::vector<report::Statement> assumptions_of(const scenario::Scenario& scenario, const report::Result& result,
                                              bool steps_known, const models::Partition* partition);

/// Input of notes: a timed run with all its figures.
struct NoteContext {
  const report::RunResult& run;
  const LearnedRun& learned;
  const TimedAs& timed;
  bool of_other_network = false;  ///< true: the timed network differs from the learning one
  bool nothing_learned = false;
};

/// Returns the notes about one run. The condition of each note is in notes.cpp; tests/study/results/notes_test.cpp
/// checks it on drawn runs.
std::vector<report::Statement> notes_of(const NoteContext& context);

}  // namespace dadsim::study
