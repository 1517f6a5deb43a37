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

/// Objectives that the runs of a scenario minimise, each with the labels of its runs.
std::map<std::string, std::vector<std::string>> objectives_of(const std::vector<spec::RunSpec>& runs,
                                                              const spec::TrainingSpec& training);

/// Assumptions of every run of the result. `steps_known`: those that the workload needs. `partition`: who has
/// which samples; null where that is not known, or all runs minimise the same.
std::vector<report::Statement> assumptions_of(const scenario::Scenario& scenario, const report::Result& result,
                                              bool steps_known, const models::Partition* partition);

/// What notes are about: a run that is timed, with all its figures.
struct NoteContext {
  const report::RunResult& run;
  const LearnedRun& learned;
  const TimedAs& timed;
  bool of_other_network = false;  ///< what is timed is not what learns
  bool nothing_learned = false;
};

/// What is to be said of one run alone. Every note has its law, when it is said and when it is not: notes.cpp states
/// it, tests/study/results/notes_test.cpp holds drawn runs to it.
std::vector<report::Statement> notes_of(const NoteContext& context);

}  // namespace dadsim::study
