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
  double busy_share = 0;  ///< largest of any of them in any run

  void add(const step::LinkUse& use);
};

/// Returns the name of the link that a direction belongs to, with a # for every number in it.
std::string pattern_of_link(const std::string& direction);

/// Returns a change of the links, "twice the bandwidth of the links hdr-# (200 Gbit/s, 600 ns; 32 directions)".
report::Statement change_of(const char* kind, double factor, const LinkGroup& group);

/// Returns the same change for each of the links.
std::vector<spec::LinkChange> changes_of(const std::vector<std::string>& links, double bandwidth, double latency);
void change_links(sim::Cluster& cluster, const std::vector<spec::LinkChange>& changes);
/// Speeds up everything that the device does, including measured times.
void speed_up(spec::DeviceSpec& device, double factor);
/// Does the same for a device of the scenario, which may time a recorded step.
void speed_up(spec::DeviceSpec& device, double factor, const scenario::Scenario& scenario);
/// Speeds up all that it does and waits for.
void speed_up(spec::FrameworkSpec& framework, double factor);
/// Keeps the sum algorithm of each run that used a single one: no library has a choice for links without limits.
void keep_sums(const report::Result& as, scenario::Scenario& scenario);
/// Simulates variations as accurately as their reference, if all runs had the same accuracy.
void keep_fidelity(const report::Result& as, sim::Cluster& cluster);
/// Returns a framework that sends the same and takes no time.
spec::FrameworkSpec without_time(const spec::FrameworkSpec& framework);

}  // namespace dadsim::study
