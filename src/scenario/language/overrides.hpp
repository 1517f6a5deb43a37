#pragma once

#include <optional>
#include <string>

#include "scenario/xml/element.hpp"
#include "scenario/xml/findings.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::scenario {

/// Writes one "path=value" of --set into the tree: `seed`, `training.batch`, `run[2].cap`, `run[rank-dad].cap`,
/// `run[*].exchange`; the name of another option may come first, "--against seed=2". Missing optional elements are
/// created. Errors go to `findings`; the reader checks the value.
void apply_override(Element& scenario, const std::string& text, Findings& findings);

/// Returns whether `path` has the form of a path of --set. The attribute need not exist.
bool is_override_path(const std::string& path);
/// Returns why a path of --set leads to no attribute of this scenario. Returns nothing if it does lead to one, or to a
/// parameter that some method may have.
std::optional<Fault> fault_of_path(const Element& scenario, const std::string& path);

/// Returns the remedy for a refused value of a <vary>: a range with fractions needs whole="true" if the attribute takes
/// whole numbers.
std::string remedy_of_value(const spec::VariedPath& varied, const Diagnostic& refused);

}  // namespace dadsim::scenario
