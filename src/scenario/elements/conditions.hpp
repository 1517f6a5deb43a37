#pragma once

#include <string>
#include <vector>

#include "scenario/elements/read.hpp"
#include "scenario/language/table.hpp"

namespace dadsim::scenario {

/// Return the rows of <run> for failures during its simulation, for absent sites, and for the weights of sites.
Row<spec::RunSpec> weights_row();
Row<spec::RunSpec> failures_row();
Row<spec::RunSpec> availability_row();
Row<spec::RunSpec> jitter_row();
Row<spec::RunSpec> absent_row();
Row<spec::RunSpec> absent_patience_row();
Row<spec::RunSpec> absent_weights_row();

/// Reads <failures> and <availability> inside a run.
void read_conditions(const Node& run, const PlacedHosts& placed, const ReadContext& context, spec::RunSpec& into);
/// Returns the part of a run's label that describes its own conditions, for example ", no failures"; empty if the run
/// has the scenario's conditions.
std::string conditions_label(const spec::RunSpec& run);
/// Checks that the conditions of runs have an effect next to the scenario's. `elements`: one per run.
void check_conditions(const Scenario& scenario, const std::vector<const Element*>& elements,
                      const ReadContext& context);

}  // namespace dadsim::scenario
