#pragma once

#include <string>
#include <vector>

// Phrases that statements, tables and pages share.

namespace dadsim::report {

/// Returns the name of a kind of step::Bound: "computing", "queueing and loss over TCP".
std::string cause_in_words(const std::string& kind);
/// Returns "81 %" or "under 1 %".
std::string share_in_words(double share);

namespace words {

/// Returns the target as in the scenario: "95 %", "97.25 %".
std::string accuracy_in_words(double accuracy);
/// Joins texts: "A", "A and B" or "A, B and C".
std::string listed(const std::vector<std::string>& words);
/// Returns settings "path=value" in words, "uplink of the sites 10Mbps, …"; "as it is" if there are none.
std::string assignments_in_words(const std::vector<std::string>& assignments);
/// Returns a number with the decimals that two significant digits need, as many as seeds justify: "9.0Mbps" for
/// "9.02Mbps".
std::string rounded_in_words(const std::string& value);

}  // namespace words
}  // namespace dadsim::report
