#pragma once

#include "methods/method.hpp"
#include "scenario/scenario.hpp"
#include "spec/layer_shape.hpp"

namespace dadsim::study {

/// What is wrong with the algorithms of collectives that a run names: those of a kind that none of its steps carries
/// out, which would change nothing. One step is taken to see which kinds these are, of the scenario's network with a
/// sample a site; of a run that names none, nothing is computed. `learned`: the shape of that network.
methods::RunFaults faults_of_collectives(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                         const spec::ModelShape& learned);

}  // namespace dadsim::study
