#pragma once

#include <optional>
#include <string>

#include "estimate/bands.hpp"
#include "estimate/verdict.hpp"

namespace dadsim::report {

std::string money_in_words(double money, const std::string& currency);  ///< "12.30 USD", three digits below 1
std::string carbon_in_words(double grams);                              ///< Returns "480 g CO2e" or "1.35 kg CO2e".
/// Returns all known costs in money, joules and grams of CO2; "not known" if there are none.
std::string costs_in_words(const std::optional<double>& money, const std::optional<double>& joules,
                           const std::optional<double>& carbon, const std::string& currency);

/// Returns "1,056" or "1.08 M": at most four digits, so that columns stay narrow.
std::string rate_in_words(double rate);
/// Returns "2 T", "300 B" or "1.5 M", the usual form of token budgets.
std::string large_number_in_words(double number);

/// Returns "19.4 s (17.2 … 22.9)", with a common unit written once; without a band, only the time.
std::string seconds_with_band(double seconds, const std::optional<estimate::Band>& factors);
std::string seconds_with_interval(double seconds, double low, double high);

/// Returns "1.80 times", with two decimals; three below 1.1, so that 1.02 is not rounded to 1.0; none from 10 on.
std::string times_in_words(double factor);
/// Returns "3.0 times (2.3 … 4.2)", with as many digits as the interval justifies; without an interval the same as
/// times_in_words().
std::string factor_in_words(const estimate::Estimate& factor);
/// Returns "1.19; 0.92 … 1.61".
std::string interval_in_words(const estimate::Estimate& ratio);
/// Returns the advice "more seeds (seeds=\"5\" of <training>) would decide".
std::string would_tell_in_words(estimate::WouldTell what);

}  // namespace dadsim::report
