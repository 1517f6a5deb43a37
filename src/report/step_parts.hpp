#pragma once

#include <string>
#include <vector>

#include "estimate/bands.hpp"

namespace dadsim::report {

/// Parts of a step as the file of a sweep keeps them, so that a verdict on its runs is that on the runs themselves: a
/// JSON array of [kin, seconds, cause]. What they rest on in words is left out.
std::string parts_in_text(const std::vector<estimate::TimePart>& parts);
/// None of an empty text. Throws std::runtime_error where the text is of another kind.
std::vector<estimate::TimePart> parts_of_text(const std::string& text);

}  // namespace dadsim::report
