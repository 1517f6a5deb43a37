#pragma once

#include <span>

#include "report/words/statement.hpp"

namespace dadsim::report::words {

/// Statements of the answer of a result.
std::span<const StatementKind> of_answers();
/// Notes on one run.
std::span<const StatementKind> of_runs();
/// Assumptions that hold for every run of a result.
std::span<const StatementKind> of_results();
/// Changes tried by an explanation, and their assumptions: parts of sentences.
std::span<const StatementKind> of_changes();
/// The headline of an explanation, and its notes.
std::span<const StatementKind> of_explanations();
/// Reasons for which a faster part of a critical path saves little: parts of sentences.
std::span<const StatementKind> of_reasons();
/// One scenario against another.
std::span<const StatementKind> of_comparisons();
/// Statements of the answer of a plan.
std::span<const StatementKind> of_plans();
/// Results of a trial of a plan, and its standing against the goal: parts of sentences.
std::span<const StatementKind> of_trials();
/// Verdicts on a measured time, and possible faults.
std::span<const StatementKind> of_diagnoses();
/// Results of a search for layouts.
std::span<const StatementKind> of_layouts();
/// Winners of the points of a sweep.
std::span<const StatementKind> of_sweeps();
/// Reasons for unknown numbers, and sources of known ones: parts of sentences.
std::span<const StatementKind> of_provenance();
/// Reasons for missing results of a scale study, and its assumptions: parts of sentences.
std::span<const StatementKind> of_scale_studies();
/// Reasons for the fidelity of a simulation: parts of sentences.
std::span<const StatementKind> of_simulations();

}  // namespace dadsim::report::words
