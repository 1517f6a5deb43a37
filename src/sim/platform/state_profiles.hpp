#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/failure_specification.hpp"
#include "support/diagnostics.hpp"

// State profiles in platform files of SimGrid: a `state_file` of a host, link or peer, and a <trace> with a
// <trace_connect> of HOST_AVAIL or LINK_AVAIL. Their lines are `date value`, with a value above 0 for on; LOOPAFTER and
// PERIODICITY have the meaning of SimGrid's "Resource profiles". They are applied here, and hidden from SimGrid.

namespace dadsim::sim {

class Markup;

struct StateProfiles {
  std::vector<spec::StateProfileSpec> profiles;
  std::vector<Diagnostic> faults;
};

/// Returns the path of a file named by a platform file; empty if it does not exist. SimGrid searches its working
/// folder, then the platform's folder.
std::string found_beside(const std::string& platform, const std::string& name);

/// Returns the bytes of a file; nothing if it cannot be read.
std::string text_of_file(const std::string& file);

/// Returns whether the text may contain state profiles, by a quick search.
bool may_have_state_profiles(std::string_view text);

/// Returns whether an element attaches a state profile.
bool is_state_connection(const Markup& markup);

/// Reads the state profiles of a platform file with this text, which must be well-formed (check_platform_text).
StateProfiles read_state_profiles(const std::string& file, const std::string& text);

/// Returns the text with blanks in place of parts hidden from SimGrid: state profiles, and <config> with `and_options`.
/// Lines keep their numbers. From a place that is not well-formed on, the text is unchanged, and SimGrid's parser
/// reports the fault.
std::string without_state_profiles(const std::string& text, bool and_options = false);

}  // namespace dadsim::sim
