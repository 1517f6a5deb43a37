#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/run/result.hpp"
#include "report/words/phrases.hpp"

namespace dadsim::report {

/// All parts of one kind on a run's critical path.
struct Cause {
  /// Resources of one direction whose names differ only in numbers.
  struct Part {
    std::string pattern;  ///< name with a # for every number, "hospital-#-up"; for a single resource its name
    std::string device;   ///< kind of the computing devices; empty for other resources
    std::size_t resources = 1;
    double seconds = 0;  ///< seconds per step
    double share = 0;    ///< share of the step
  };
  std::string kind;  ///< kind as in step::Bound
  double seconds = 0, share = 0;
  std::vector<Part> parts;  ///< parts, the longest first
};

/// Returns the causes, the longest first; empty if there is no critical path.
std::vector<Cause> causes_of(const RunResult& run);

/// Returns "hospital-# (rtx-3090)", "hospital-#-up".
std::string name_of(const Cause::Part& part);
/// Returns the resources of a part: "5 links hospital-#-up", "link hub-down".
std::string resources_in_words(const Cause& cause, const Cause::Part& part);
/// Returns the cause and resources of a part: "bandwidth of 5 links hospital-#-up".
std::string in_words(const Cause& cause, const Cause::Part& part);

/// Returns the causes of a run's time by kind, as the beginning of a sentence; empty if there is no critical path.
/// Example: "56 % of the step was bandwidth (link up 33 %, link down 22 %), 33 % computing (site-1), 11 % latency
/// (up)".
std::string causes_in_words(const RunResult& run);

/// Causes that are named with their main resource: each cause, only the first, or none.
enum class CausesNamed : std::uint8_t { each, first, none };
/// Returns the causes in short, without those under half a per cent: "56 % bandwidth (link up 33 %), 33 % computing
/// (site-1)".
std::string causes_in_short(const RunResult& run, CausesNamed named);

/// Returns the name of the link that a direction belongs to. SimGrid has a link for each direction, but a buyer buys
/// both.
std::string name_of_link(const std::string& direction);
/// Returns the name with a # for every number in it.
std::string with_numbers_open(const std::string& name);

}  // namespace dadsim::report
