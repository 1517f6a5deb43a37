#pragma once

#include <string>

#include "estimate/verdict.hpp"

namespace dadsim::report {

/// Returns "1.8 times": three digits, four below 1.1, so that 1.02 is not rounded away.
std::string times_in_words(double factor);
/// Returns "3.0 times (2.3 … 4.2)", with as many digits as the interval leaves; without an interval the same as
/// times_in_words().
std::string factor_in_words(const estimate::Estimate& factor);
/// Returns "1.19; 0.92 … 1.61".
std::string interval_in_words(const estimate::Estimate& ratio);
/// Returns "more seeds (seeds=\"5\" of <training>) would tell".
std::string would_tell_in_words(estimate::WouldTell what);

}  // namespace dadsim::report
