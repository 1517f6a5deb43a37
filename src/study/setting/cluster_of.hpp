#pragma once

#include <string>

#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"

namespace dadsim::study {

/// Returns the device of that name, from the scenario or the catalogue. Throws std::logic_error if there is none,
/// because names were checked before.
const spec::DeviceSpec& find_device(const std::vector<spec::DeviceSpec>& own, const std::string& name);

/// Returns the source of a device's rates, and its own efficiencies in this precision, in words.
std::string rates_in_words(const spec::DeviceSpec& device, spec::Precision precision);

/// Returns the cluster of a scenario: its hosts and devices, each with its own speed.
sim::Cluster cluster_of(const scenario::Scenario& scenario);
/// Returns the cluster of a run, with the run's conditions applied.
sim::Cluster cluster_of_run(sim::Cluster cluster, const spec::RunSpec& run);

}  // namespace dadsim::study
