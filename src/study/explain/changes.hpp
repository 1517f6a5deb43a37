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

/// Links that are of one kind: their names differ in numbers alone.
struct LinkGroup {
  std::string pattern;  ///< "hospital-#-up"
  std::vector<std::string> links;
  double least_bandwidth = std::numeric_limits<double>::infinity(), most_bandwidth = 0;  ///< byte/s
  double least_latency = std::numeric_limits<double>::infinity(), most_latency = 0;      ///< seconds
  double busy_share = 0;  ///< the most of any of them in any run

  void add(const step::LinkUse& use);
};

/// The name of the link that a direction is part of, with a # for every number in it.
std::string pattern_of_link(const std::string& direction);

/// A change of them, "twice the bandwidth of the links hdr-# (200 Gbit/s, 600 ns; 32 directions)".
report::Statement change_of(const char* kind, double factor, const LinkGroup& group);

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
