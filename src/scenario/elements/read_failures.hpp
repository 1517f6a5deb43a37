#pragma once

#include <vector>

#include "scenario/elements/read.hpp"

namespace dadsim::scenario {

/// <failures> and every <availability> of a scenario. Patterns of hosts have to fit one of `placed`, those of nodes a
/// node that one of these is on.
spec::FailureSpec read_failures(const Node& scenario, const PlacedHosts& placed, const ReadContext& context);

}  // namespace dadsim::scenario
