#pragma once

#include <string>

namespace dadsim::study {

/// The text of a scenario whose <timed-as> says nothing of how the network is divided: spec::kLayoutAttributes are left
/// out of it.
std::string without_layout(const std::string& text);

/// Whether a "path=value" of --set is of one of them.
bool sets_layout(const std::string& assignment);

}  // namespace dadsim::study
