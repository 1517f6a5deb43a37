#pragma once

#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "schedule/assignment.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

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
