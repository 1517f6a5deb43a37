#pragma once

#include <string>

namespace dadsim::report {

/// "1,056", "1.08 M": four digits at most, so that columns stay narrow.
std::string rate_in_words(double rate);

}  // namespace dadsim::report
