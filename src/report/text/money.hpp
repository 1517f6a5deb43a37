#pragma once

#include <optional>
#include <string>

namespace dadsim::report {

std::string money_in_words(double money, const std::string& currency);  ///< "12.30 USD", three digits below 1
std::string carbon_in_words(double grams);                              ///< "480 g CO2e", "1.35 kg CO2e"
/// All that is known of money, joules and grams of CO2, "not known" if nothing is.
std::string costs_in_words(const std::optional<double>& money, const std::optional<double>& joules,
                           const std::optional<double>& carbon, const std::string& currency);

}  // namespace dadsim::report
