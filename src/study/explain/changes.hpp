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
  double busy_share = 0;  ///< share of time in use, of the busiest link, largest over all runs

  void add(const step::LinkUse& use);
};

/// Returns the name of the direction's link with each number replaced by #.
std::string pattern_of_link(const std::string& direction);

/// Returns a change of the links, "twice the bandwidth of the links hdr-# (200 Gbit/s, 600 ns; 32 directions)".
report::Statement change_of(const char* kind, double factor, const LinkGroup& group);

/// Returns a separate change for each of the links.
std::vector<spec::LinkChange> changes_of(const std::vector<std::string>& links, double bandwidth, double latency);
void change_links(sim::Cluster& cluster, const std::vector<spec::LinkChange>& changes);
/// Multiplies the rates of the device (fp32, tf32, 16 bit and memory) and divides its times, including measured ones,
/// by `factor`.
void speed_up(spec::DeviceSpec& device, double factor);
/// Speeds up a device of the scenario in the same way. If the scenario's step is recorded, divides the device's
/// slowdown instead.
void speed_up(spec::DeviceSpec& device, double factor, const scenario::Scenario& scenario);
/// Speeds up the framework: multiplies its rates, and divides its waiting times, by `factor`.
void speed_up(spec::FrameworkSpec& framework, double factor);
/// Keeps the sum algorithm of each run that used only one. Libraries cannot choose for links without limits.
void keep_sums(const report::Result& as, scenario::Scenario& scenario);
/// Sets the fidelity of variations to that of the unchanged scenario, if all its runs used the same one.
void keep_fidelity(const report::Result& as, sim::Cluster& cluster);
/// Returns a framework that sends the same messages but needs no time of its own.
spec::FrameworkSpec without_time(const spec::FrameworkSpec& framework);

}  // namespace dadsim::study
