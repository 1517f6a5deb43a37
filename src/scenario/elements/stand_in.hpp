#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "scenario/elements/read.hpp"
#include "scenario/language/node.hpp"
#include "scenario/xml/element.hpp"
#include "spec/payload_specification.hpp"

namespace dadsim::scenario {

/// Number of steps recorded in a scenario without learning. It covers methods whose steps differ by design (one-peer
/// graphs among a thousand sites have ten).
inline constexpr int kRecordedSteps = 16;

/// Stand-ins for a missing learning network, on which steps are recorded. The elements are as in a scenario. A batch of
/// a worker has one sample; there is one batch, unless <timing-only samples="…"> gives more.
struct StandIn {
  Element data, model, training;
  spec::PayloadSpec payload;
};

/// Reads <timing-only> and fills in the rest; none without it. Checks that nothing else in the scenario needs
/// accuracies, and that <timed-as> or a payload defines the timing.
std::optional<StandIn> read_timing_only(const Node& scenario, std::size_t workers, const ReadContext& context);

/// Checks that a payload is used by event-driven runs alone, and `samples` by runs that have it.
void check_stand_in(const Node& scenario, const StandIn& stand_in, const std::vector<spec::RunSpec>& runs,
                    const ReadContext& context);

/// Checks that a scenario with a recorded step learns nothing, has as many workers, and gives its runs nothing that the
/// step defines.
void check_recorded(const Node& node, const Scenario& scenario, std::size_t workers, const ReadContext& context);

}  // namespace dadsim::scenario
