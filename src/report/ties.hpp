#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "report/answer.hpp"

namespace dadsim::report {

/// Run `i`, which was learned with several seeds: the mean of its times to the target, with what seeds and evaluations
/// leave open, and the errors of a step. None unless it reached the target with every one of them.
std::optional<Answer::Place> over_seeds(const RunResult& run, std::size_t i);

/// Compares the runs of an answer's ranking by the time to the target, each with all before it, and says which tie with
/// the first: the test of sweeps (study/sweep/winners.cpp), over the seeds that both have.
void find_ties(const std::vector<RunResult>& runs, Answer& answer);

}  // namespace dadsim::report
