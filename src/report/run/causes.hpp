#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "report/words/phrases.hpp"

namespace dadsim::report {

/// What of a run's critical path is of one kind, whatever it lies on.
struct Cause {
  /// Resources whose names differ in numbers alone, in one direction each.
  struct Part {
    std::string pattern;  ///< with a # for every number, "hospital-#-up"; of a single resource its name
    std::string device;   ///< kind of the devices that compute; empty of what computes nothing
    std::size_t resources = 1;
    double seconds = 0;  ///< per step
    double share = 0;    ///< of the step
  };
  std::string kind;  ///< as in step::Bound
  double seconds = 0, share = 0;
  std::vector<Part> parts;  ///< the longest first
};

/// The longest first; empty where a run has no critical path.
std::vector<Cause> causes_of(const RunResult& run);

/// "hospital-# (rtx-3090)", "hospital-#-up".
std::string name_of(const Cause::Part& part);
/// "5 links hospital-#-up", "link hub-down": what a part lies on.
std::string resources_in_words(const Cause& cause, const Cause::Part& part);
/// "bandwidth of 5 links hospital-#-up": what a part is of.
std::string in_words(const Cause& cause, const Cause::Part& part);

/// What held a run back, by kind first: a sentence without its end. "56 % of the step was bandwidth (link up 33 %, link
/// down 22 %), 33 % computing (site-1), 11 % latency (up)". Empty where a run has no critical path.
std::string causes_in_words(const RunResult& run);

/// Which causes are named with the resource that most of them lies on.
enum class CausesNamed : std::uint8_t { each, first, none };
/// The same in short, without what is under half a per cent: "56 % bandwidth (link up 33 %), 33 % computing (site-1)".
std::string causes_in_short(const RunResult& run, CausesNamed named);

/// The name of the link that a direction is part of: SimGrid makes a link of each, but whoever buys them buys one.
std::string name_of_link(const std::string& direction);
/// A name with a # for every number in it.
std::string with_numbers_open(const std::string& name);

}  // namespace dadsim::report
