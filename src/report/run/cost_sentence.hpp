#pragma once

#include <string>

#include "report/run/result.hpp"

namespace dadsim::report {

std::string money_in_words(double money, const std::string& currency);  ///< "12.30 USD", three digits below 1
std::string carbon_in_words(double grams);                              ///< "480 g CO2e", "1.35 kg CO2e"
/// All of it that is known, "not known" if nothing is.
std::string costs_in_words(const Costs& costs, const std::string& currency);

/// What a run costs, in words: to the target and in all, or at scale. Empty where the result tells no costs.
std::string cost_sentence(const RunResult& run, const Result& result);

}  // namespace dadsim::report
