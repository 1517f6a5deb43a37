#pragma once

#include <string>
#include <vector>

#include "scenario/language/catalog.hpp"
#include "scenario/xml/findings.hpp"
#include "spec/failure_specification.hpp"

namespace dadsim::scenario {

/// The changes that a file of availability says: a line `host time state` for each, with blanks, tabs, commas or
/// semicolons between them. Times are seconds, with a unit or without, in any order; states on and off, up and down, 1
/// and 0, true and false, yes and no, available and unavailable, online and offline, in any case. What follows # is a
/// comment; a first line of names may say another order of columns. `hosts`: those that the changes may be of, a
/// finding where a name is not among `placed` while one of them has no change: empty where they are not known.
std::vector<spec::AvailabilitySpec::Change> read_availability_file(const std::string& content,
                                                                   const std::vector<std::string>& hosts,
                                                                   const std::vector<std::string>& placed,
                                                                   const Catalog& catalog, Findings& findings);

}  // namespace dadsim::scenario
