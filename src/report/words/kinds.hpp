#pragma once

#include <span>

#include "report/words/statement.hpp"

namespace dadsim::report::words {

/// What the answer of a result says.
std::span<const StatementKind> of_answers();
/// Notes on one run.
std::span<const StatementKind> of_runs();
/// Assumptions that hold for every run of a result.
std::span<const StatementKind> of_results();
/// What an explanation changes, and what it takes for granted with that: parts of sentences.
std::span<const StatementKind> of_changes();
/// The headline of an explanation, and its notes.
std::span<const StatementKind> of_explanations();
/// Why a faster part of a critical path saves next to nothing: parts of sentences.
std::span<const StatementKind> of_reasons();
/// One scenario against another.
std::span<const StatementKind> of_comparisons();
/// What a plan answers.
std::span<const StatementKind> of_plans();
/// What a trial of a plan takes, and how that stands to the goal: parts of sentences.
std::span<const StatementKind> of_trials();
/// Whether a measured time is normal, and what may be wrong.
std::span<const StatementKind> of_diagnoses();
/// What a search for layouts found.
std::span<const StatementKind> of_layouts();
/// Who is first at how many points of a sweep.
std::span<const StatementKind> of_sweeps();
/// Why a number is not known, and where one comes from: parts of sentences.
std::span<const StatementKind> of_provenance();
/// Why a scale study says nothing, and what it assumes: parts of sentences.
std::span<const StatementKind> of_scale_studies();
/// How a simulation was chosen: parts of sentences.
std::span<const StatementKind> of_simulations();

}  // namespace dadsim::report::words
