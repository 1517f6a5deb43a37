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
/// Returns "A", "A and B" or "A, B and C".
std::string listed(const std::vector<std::string>& words);
/// Returns "uplink of the sites 10Mbps, …" for "path=value"; "as it is" without any.
std::string assignments_in_words(const std::vector<std::string>& assignments);
/// Returns "9.0Mbps" for "9.02Mbps": as many digits as seeds leave.
std::string rounded_in_words(const std::string& value);

}  // namespace words
}  // namespace dadsim::report
