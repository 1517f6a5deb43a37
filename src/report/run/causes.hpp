#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "report/words/phrases.hpp"

namespace dadsim::report {

/// All parts of one kind on a run's critical path, on any resource.
struct Cause {
  /// Resources whose names differ only in numbers, of one direction.
  struct Part {
    std::string pattern;  ///< name with a # for every number, "hospital-#-up"; of a single resource its name
    std::string device;   ///< kind of the devices that compute; else empty
    std::size_t resources = 1;
    double seconds = 0;  ///< per step
    double share = 0;    ///< share of the step
  };
  std::string kind;  ///< kind as in step::Bound
  double seconds = 0, share = 0;
  std::vector<Part> parts;  ///< the longest first
};

/// Returns the causes, the longest first; empty without a critical path.
std::vector<Cause> causes_of(const RunResult& run);

/// Returns "hospital-# (rtx-3090)", "hospital-#-up".
std::string name_of(const Cause::Part& part);
/// Returns the resources of a part: "5 links hospital-#-up", "link hub-down".
std::string resources_in_words(const Cause& cause, const Cause::Part& part);
/// Returns the cause and resources of a part: "bandwidth of 5 links hospital-#-up".
std::string in_words(const Cause& cause, const Cause::Part& part);

/// Returns what held a run back, by kind, as a sentence without its end; empty without a critical path. "56 % of the
/// step was bandwidth (link up 33 %, link down 22 %), 33 % computing (site-1), 11 % latency (up)".
std::string causes_in_words(const RunResult& run);

/// Causes that are named with their main resource.
enum class CausesNamed : std::uint8_t { each, first, none };
/// Returns the causes in short, without those under half a per cent: "56 % bandwidth (link up 33 %), 33 % computing
/// (site-1)".
std::string causes_in_short(const RunResult& run, CausesNamed named);

/// Returns the name of the link that a direction belongs to: SimGrid makes a link of each direction, but a buyer buys
/// one.
std::string name_of_link(const std::string& direction);
/// Returns the name with a # for every number in it.
std::string with_numbers_open(const std::string& name);

}  // namespace dadsim::report
