#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "scenario/elements/read.hpp"
#include "scenario/language/node.hpp"
#include "scenario/xml/element.hpp"
#include "spec/payload_specification.hpp"

namespace dadsim::scenario {

/// Steps recorded in a scenario without learning; enough for methods whose steps differ by design (one-peer graphs
/// among a thousand sites have ten).
inline constexpr int kRecordedSteps = 16;

/// Stand-ins for data and a network in a scenario without learning, on which steps are recorded. A worker's batch has
/// one sample; there is one batch, unless <timing-only samples="…"> gives more.
struct StandIn {
  Element data, model, training;
  spec::PayloadSpec payload;
};

/// Reads <timing-only>, and fills in the rest of the scenario; returns none without this element. Checks that nothing
/// else in the scenario needs accuracies, and that <timed-as> or a payload defines the timing.
std::optional<StandIn> read_timing_only(const Node& scenario, std::size_t workers, const ReadContext& context);

/// Checks that only event-driven runs use a payload, and that `samples` is given only if a run is event-driven.
void check_stand_in(const Node& scenario, const StandIn& stand_in, const std::vector<spec::RunSpec>& runs,
                    const ReadContext& context);

/// Checks a scenario with a recorded step: it must not learn, must have as many workers as the step, and its runs must
/// not set anything that the step defines.
void check_recorded(const Node& node, const Scenario& scenario, std::size_t workers, const ReadContext& context);

}  // namespace dadsim::scenario
