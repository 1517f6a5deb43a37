#pragma once

#include <string>
#include <vector>

#include "scenario/element.hpp"
#include "scenario/findings.hpp"

namespace dadsim {

/// Writes one "path=value" of --set into the tree: `seed`, `training.batch`, `run[2].cap`, `run[rank-dad].cap`,
/// `run[*].exchange`. Elements that may be left out are made. What cannot be carried out goes to `findings`; whether
/// the value is right is for the reader to say.
void apply_override(Element& scenario, const std::string& text, Findings& findings);

}  // namespace dadsim
