#pragma once

#include <string>
#include <vector>

namespace dadsim::study {

/// Returns the scenario's text without the attributes of <timed-as> that divide the network (spec::kLayoutAttributes).
std::string without_layout(const std::string& text);

/// Returns assignments for --set that remove the layout of the text, such as "timed-as.tensor=". Attributes that
/// `assignments` set are kept.
std::vector<std::string> taken_back(const std::string& text, const std::vector<std::string>& assignments);

/// Returns true if a "path=value" of --set sets one of the layout's attributes.
bool sets_layout(const std::string& assignment);

}  // namespace dadsim::study
