#pragma once

#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"

namespace dadsim::study {

/// The same change of each of the links.
std::vector<spec::LinkChange> changes_of(const std::vector<std::string>& links, double bandwidth, double latency);
void change_links(sim::Cluster& cluster, const std::vector<spec::LinkChange>& changes);
/// Everything that the device does, measured times included.
void speed_up(spec::DeviceSpec& device, double factor);
/// The same of a device of the scenario, which may time a step that was recorded.
void speed_up(spec::DeviceSpec& device, double factor, const scenario::Scenario& scenario);
/// All that it does and waits for.
void speed_up(spec::FrameworkSpec& framework, double factor);
/// Sums of each run stay what they were carried out as, where that was one algorithm: no library has a choice for links
/// without limits.
void keep_sums(const report::Result& as, scenario::Scenario& scenario);
/// What is tried is simulated as closely as what it is compared with, where all runs were simulated alike.
void keep_fidelity(const report::Result& as, sim::Cluster& cluster);
/// One that sends the same and takes no time.
spec::FrameworkSpec without_time(const spec::FrameworkSpec& framework);

}  // namespace dadsim::study
