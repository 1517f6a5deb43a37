#pragma once

#include <optional>
#include <string>

#include "estimate/bands.hpp"

namespace dadsim::report {

std::string money_in_words(double money, const std::string& currency);  ///< "12.30 USD", three digits below 1
std::string carbon_in_words(double grams);                              ///< "480 g CO2e", "1.35 kg CO2e"
/// All that is known of money, joules and grams of CO2, "not known" if nothing is.
std::string costs_in_words(const std::optional<double>& money, const std::optional<double>& joules,
                           const std::optional<double>& carbon, const std::string& currency);

/// "1,056", "1.08 M": four digits at most, so that columns stay narrow.
std::string rate_in_words(double rate);
/// "2 T", "300 B", "1.5 M": as budgets of tokens are said.
std::string large_number_in_words(double number);

/// "19.4 s (17.2 … 22.9)", the unit once where it is the same; the time alone without a band.
std::string seconds_with_band(double seconds, const std::optional<estimate::Band>& factors);
std::string seconds_with_interval(double seconds, double low, double high);

}  // namespace dadsim::report
