#pragma once

#include <string>
#include <vector>

namespace dadsim::study {

/// The text of a scenario whose <timed-as> says nothing of how the network is divided: spec::kLayoutAttributes are left
/// out of it.
std::string without_layout(const std::string& text);

/// Assignments for --set that take a text's own layout back where `assignments` say nothing of it: "timed-as.tensor=".
std::vector<std::string> taken_back(const std::string& text, const std::vector<std::string>& assignments);

/// Whether a "path=value" of --set is of one of them.
bool sets_layout(const std::string& assignment);

}  // namespace dadsim::study
