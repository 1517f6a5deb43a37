#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "scenario/elements/read.hpp"
#include "scenario/language/node.hpp"
#include "scenario/xml/element.hpp"

namespace dadsim::scenario {

/// Steps that are recorded where nothing is learned: enough for what differs from step to step by design (graphs of one
/// peer at a time among a thousand sites have ten).
inline constexpr int kRecordedSteps = 16;

/// What steps are recorded on where a scenario has no network that learns: elements as they would stand in it, one
/// sample for each of the workers.
struct StandIn {
  Element data, model, training;
};

/// Reads <timing-only>, with what it leaves out; nothing where it is not there. That nothing stands beside it which
/// asks for accuracies, and that <timed-as> says what is timed, is checked.
std::optional<StandIn> read_timing_only(const Node& scenario, std::size_t workers, const ReadContext& context);

/// Event-driven runs need to know how many samples a site has: a finding for each.
void reject_event_driven(const std::vector<const Element*>& elements, const std::vector<spec::RunSpec>& runs,
                         const ReadContext& context);

}  // namespace dadsim::scenario
