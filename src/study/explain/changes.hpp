#pragma once

#include <limits>
#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "report/words/statement.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "step/timing.hpp"

namespace dadsim::study {

/// Links of one kind: their names differ only in numbers.
struct LinkGroup {
  std::string pattern;  ///< "hospital-#-up"
  std::vector<std::string> links;
  double least_bandwidth = std::numeric_limits<double>::infinity(), most_bandwidth = 0;  ///< byte/s
  double least_latency = std::numeric_limits<double>::infinity(), most_latency = 0;      ///< seconds
  double busy_share = 0;  ///< share of time in use, of the busiest link in any run

  void add(const step::LinkUse& use);
};

/// Returns the name of the link that a direction belongs to, with a # for every number in it.
std::string pattern_of_link(const std::string& direction);

/// Returns a change of the links, "twice the bandwidth of the links hdr-# (200 Gbit/s, 600 ns; 32 directions)".
report::Statement change_of(const char* kind, double factor, const LinkGroup& group);

/// Returns a separate change for each of the links.
std::vector<spec::LinkChange> changes_of(const std::vector<std::string>& links, double bandwidth, double latency);
void change_links(sim::Cluster& cluster, const std::vector<spec::LinkChange>& changes);
/// Speeds up everything that the device does, including measured times.
void speed_up(spec::DeviceSpec& device, double factor);
/// Speeds up a device of the scenario likewise; it may time a recorded step.
void speed_up(spec::DeviceSpec& device, double factor, const scenario::Scenario& scenario);
/// Speeds up the computing and all waiting of the device.
void speed_up(spec::FrameworkSpec& framework, double factor);
/// Keeps the sum algorithm of each run that used a single one: libraries make no choice for links without limits.
void keep_sums(const report::Result& as, scenario::Scenario& scenario);
/// Sets the fidelity of variations to that of the unchanged scenario, if all its runs had one fidelity.
void keep_fidelity(const report::Result& as, sim::Cluster& cluster);
/// Returns a framework that sends the same messages and takes no time itself.
spec::FrameworkSpec without_time(const spec::FrameworkSpec& framework);

}  // namespace dadsim::study
