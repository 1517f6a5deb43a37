#pragma once

#include <optional>
#include <string>

#include "scenario/scenario.hpp"
#include "spec/sample_shape.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Bytes of this machine that learning a run takes at least: of each network that is there at a time its weights, their
/// gradient and what the optimizer keeps (one network where all sites share one, one for each site where they have
/// weights of their own), what the layers write for a batch, and the samples; of an event-driven run besides what
/// clients hold until it has gone into a model. Measured peaks lie up to a half above it. 0 where the layers do not fit
/// the samples.
double host_bytes_of(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::SampleShape& sample);

/// Why the runs of a scenario cannot be learned on a machine of `limit` bytes (0: nobody knows), as many side by side
/// as there are threads, none: they can. A scenario without runs is taken for one of a single
/// network.
std::optional<Fault> fault_of_host_memory(const scenario::Scenario& scenario, const spec::SampleShape& sample,
                                          double limit);

}  // namespace dadsim::study
