#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "scenario/elements/read.hpp"
#include "scenario/language/node.hpp"
#include "scenario/xml/element.hpp"
#include "spec/payload_specification.hpp"

namespace dadsim::scenario {

/// Steps that are recorded where nothing is learned: enough for what differs from step to step by design (graphs of one
/// peer at a time among a thousand sites have ten).
inline constexpr int kRecordedSteps = 16;

/// What steps are recorded on where a scenario has no network that learns: elements as they would stand in it, a sample
/// for each of the batches that a worker has; one, unless <timing-only samples="…"> says more.
struct StandIn {
  Element data, model, training;
  spec::PayloadSpec payload;
};

/// Reads <timing-only>, with what it leaves out; nothing where it is not there. That nothing stands beside it which
/// asks for accuracies, and that <timed-as> or a payload says what is timed, is checked.
std::optional<StandIn> read_timing_only(const Node& scenario, std::size_t workers, const ReadContext& context);

/// That a payload is of event-driven runs alone, and samples of some.
void check_stand_in(const Node& scenario, const StandIn& stand_in, const std::vector<spec::RunSpec>& runs,
                    const ReadContext& context);

/// That what times a recorded step learns nothing, has as many workers, and says nothing of its runs that the step
/// says.
void check_recorded(const Node& node, const Scenario& scenario, std::size_t workers, const ReadContext& context);

}  // namespace dadsim::scenario
