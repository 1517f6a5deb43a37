#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "spec/failure_specification.hpp"
#include "support/diagnostics.hpp"

// State profiles in platform files of SimGrid: a `state_file` of a host, link or peer, and a <trace> with a
// <trace_connect> of HOST_AVAIL or LINK_AVAIL. Lines `date value`, a value above 0 for on; LOOPAFTER and PERIODICITY as
// in SimGrid's "Resource profiles" (they are followed here, and kept from SimGrid).

namespace dadsim::sim {

class Markup;

struct StateProfiles {
  std::vector<spec::StateProfileSpec> profiles;
  std::vector<Diagnostic> faults;
};

/// The path of a file that a platform file names, empty where there is none. SimGrid looks in the folder that it runs
/// in, then beside the platform.
std::string found_beside(const std::string& platform, const std::string& name);

/// The bytes of a file; none where it cannot be read.
std::string text_of_file(const std::string& file);

/// Whether it is worth to look for them.
bool may_have_state_profiles(std::string_view text);

/// Whether an element attaches a state profile.
bool is_state_connection(const Markup& markup);

/// Those of a platform file with this text, which check_platform_text finds well-formed.
StateProfiles read_state_profiles(const std::string& file, const std::string& text);

/// Returns the text with blanks for what SimGrid must not see, on the same lines: state profiles, and <config> with
/// `and_options`. Copies the text as it is from where it is not well-formed: SimGrid's parser says what is wrong.
std::string without_state_profiles(const std::string& text, bool and_options = false);

}  // namespace dadsim::sim
