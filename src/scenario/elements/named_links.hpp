#pragma once

#include "scenario/language/read_context.hpp"
#include "scenario/scenario.hpp"
#include "scenario/xml/element.hpp"

namespace dadsim::scenario {

class Node;

// Names, patterns and classes of links that a scenario has outside its <platform>: each has to fit a link. The platform
// is built for it, so that this is asked once all else is right.

/// Of <fails> and <outage>, of the scenario and of its runs.
void check_links_of_failures(const Node& scenario_element, const Scenario& scenario, const ReadContext& context);
/// Of <line> and <egress> in <costs>.
void check_links_of_costs(const Element& costs, const Scenario& scenario, const ReadContext& context);

}  // namespace dadsim::scenario
