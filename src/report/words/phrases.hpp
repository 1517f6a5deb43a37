#pragma once

#include <string>
#include <vector>

#include "report/words/statement.hpp"

// Phrases that sentences of several kinds share.

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

/// Returns the subject of a step's time: "a step of resnet-50", "a round".
std::string a_step_of(const Statement& statement);
/// Returns "workers", or "the 2 of 20 workers that take part" if an event-driven run's "taking_part" is below its
/// "workers".
std::string those_at_work(const Statement& statement);

/// Returns a rate by a metric of work: "2.63 M tokens per second", "3.1 M tokens per USD".
std::string work_in_words(double rate, const std::string& metric, bool tokens, const std::string& currency);

/// Returns a constant text for statements without values.
template <const char* const& text>
std::string as_it_is(const Statement& /*statement*/) {
  return text;
}

}  // namespace words
}  // namespace dadsim::report
