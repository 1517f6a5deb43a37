#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenario/xml/element.hpp"
#include "scenario/xml/findings.hpp"

namespace dadsim::scenario {

/// Writes one "path=value" of --set into the tree: `seed`, `training.batch`, `run[2].cap`, `run[rank-dad].cap`,
/// `run[*].exchange`. Elements that may be left out are made. What cannot be carried out goes to `findings`; whether
/// the value is right is for the reader to say.
void apply_override(Element& scenario, const std::string& text, Findings& findings);

/// Whether `path` has the form of such a path; what it leads to is another matter.
bool is_override_path(const std::string& path);
/// Why such a path leads to no attribute of this scenario; nothing where it does, or where parameters of a method may
/// be meant.
std::optional<Fault> fault_of_path(const Element& scenario, const std::string& path);

}  // namespace dadsim::scenario
