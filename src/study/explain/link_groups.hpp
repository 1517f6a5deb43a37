#pragma once

#include <limits>
#include <string>
#include <vector>

#include "report/words/statement.hpp"
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

}  // namespace dadsim::study
