#pragma once

#include <string>
#include <vector>

#include "report/words/statement.hpp"

// What sentences of several kinds are made of.

namespace dadsim::report {

/// "computing", "queueing and loss over TCP": of a kind of step::Bound.
std::string cause_in_words(const std::string& kind);
/// "81 %", "under 1 %".
std::string share_in_words(double share);

namespace words {

/// The target as the scenario has it: "95 %", "97.25 %".
std::string accuracy_in_words(double accuracy);
/// "A", "A and B", "A, B and C".
std::string listed(const std::vector<std::string>& words);
/// "uplink of the sites 10Mbps, …" of "path=value"; "as it is" without any.
std::string assignments_in_words(const std::vector<std::string>& assignments);
/// "9.0Mbps" of "9.02Mbps": as many digits as seeds leave.
std::string rounded_in_words(const std::string& value);

/// "a step of resnet-50", "a round": what a time of a step is of.
std::string a_step_of(const Statement& statement);
/// "workers", or "the 2 of 20 workers that take part": of an event-driven run's "taking_part" of "workers", where
/// those are not all.
std::string those_at_work(const Statement& statement);

/// "2.63 M tokens per second", "3.1 M tokens per USD": a rate by a metric of work.
std::string work_in_words(double rate, const std::string& metric, bool tokens, const std::string& currency);

/// Where words say all that there is to say.
template <const char* const& text>
std::string as_it_is(const Statement& /*statement*/) {
  return text;
}

}  // namespace words
}  // namespace dadsim::report
