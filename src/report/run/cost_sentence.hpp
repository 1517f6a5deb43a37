#pragma once

#include <string>

#include "report/run/result.hpp"
#include "report/text/money.hpp"

namespace dadsim::report {

/// All of it that is known, "not known" if nothing is.
std::string costs_in_words(const Costs& costs, const std::string& currency);

/// What a run costs, in words: to the target and in all, or at scale. Empty where the result tells no costs.
std::string cost_sentence(const RunResult& run, const Result& result);

}  // namespace dadsim::report
