#pragma once

#include <string>
#include <vector>

#include "scenario/elements/read.hpp"
#include "scenario/language/table.hpp"

namespace dadsim::scenario {

/// Rows of <run>: what goes wrong while it is simulated, what it does about sites that are away, and what sites are
/// worth.
Row<spec::RunSpec> weights_row();
Row<spec::RunSpec> failures_row();
Row<spec::RunSpec> availability_row();
Row<spec::RunSpec> jitter_row();
Row<spec::RunSpec> absent_row();
Row<spec::RunSpec> absent_patience_row();
Row<spec::RunSpec> absent_weights_row();

/// <failures> and <availability> inside of a run.
void read_conditions(const Node& run, const PlacedHosts& placed, const ReadContext& context, spec::RunSpec& into);
/// What tells a run's conditions from those of others, in words: ", no failures". Empty: they are the scenario's.
std::string conditions_label(const spec::RunSpec& run);
/// That what runs say of their conditions means something beside what the scenario has. `elements`: those of the runs.
void check_conditions(const Scenario& scenario, const std::vector<const Element*>& elements,
                      const ReadContext& context);

}  // namespace dadsim::scenario
