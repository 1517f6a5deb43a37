#pragma once

#include <string>

namespace dadsim::report {

/// "1,056", "1.08 M": four digits at most, so that columns stay narrow.
std::string rate_in_words(double rate);
/// "2 T", "300 B", "1.5 M": as budgets of tokens are said.
std::string large_number_in_words(double number);

}  // namespace dadsim::report
