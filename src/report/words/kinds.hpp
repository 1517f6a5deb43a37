#pragma once

#include <span>

#include "report/words/statement.hpp"

namespace dadsim::report::words {

/// Returns the statements of a result's answer.
std::span<const StatementKind> of_answers();
/// Returns the notes on one run.
std::span<const StatementKind> of_runs();
/// Returns the assumptions that hold for every run of a result.
std::span<const StatementKind> of_results();
/// Returns the changes tried by an explanation, and their assumptions: parts of sentences.
std::span<const StatementKind> of_changes();
/// Returns the headline of an explanation, and its notes.
std::span<const StatementKind> of_explanations();
/// Returns the reasons for which a faster part of a critical path saves little: parts of sentences.
std::span<const StatementKind> of_reasons();
/// Returns the statements on one scenario against another.
std::span<const StatementKind> of_comparisons();
/// Returns the statements of a plan's answer.
std::span<const StatementKind> of_plans();
/// Returns the results of a plan's trial, and its standing against the goal: parts of sentences.
std::span<const StatementKind> of_trials();
/// Returns the verdicts on a measured time, and possible faults.
std::span<const StatementKind> of_diagnoses();
/// Returns the statements on a search for layouts.
std::span<const StatementKind> of_layouts();
/// Returns the statements on training on a named cluster, and their assumptions.
std::span<const StatementKind> of_trainings();
/// Returns the statements on the winners of a sweep's points.
std::span<const StatementKind> of_sweeps();
/// Returns the reasons for unknown numbers, and the sources of known ones: parts of sentences.
std::span<const StatementKind> of_provenance();
/// Returns the reasons for missing results of a scale study, and its assumptions: parts of sentences.
std::span<const StatementKind> of_scale_studies();
/// Returns the reasons for the fidelity of a simulation: parts of sentences.
std::span<const StatementKind> of_simulations();

}  // namespace dadsim::report::words
