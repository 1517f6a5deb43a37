#pragma once

#include <vector>

#include "scenario/elements/read.hpp"

namespace dadsim::scenario {

/// <failures> and every <availability> of a scenario. Patterns of hosts have to fit one of `placed`: the hosts of the
/// workers and of the aggregator.
spec::FailureSpec read_failures(const Node& scenario, const std::vector<std::string>& placed,
                                const ReadContext& context);

}  // namespace dadsim::scenario
