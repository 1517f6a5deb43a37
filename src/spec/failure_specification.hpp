#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "spec/names.hpp"

// Failures of a cluster during a simulated run, and the presence of its hosts. Names are those of the platform's hosts,
// nodes and links; * matches anything. Times are seconds from the beginning of the run, which is midnight.

namespace dadsim::spec {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

/// Independent random failures of hosts, links or nodes (all hosts of a node fail together). Each is up for a Weibull
/// time with this mean and shape (1: exponential, memoryless), then down for an exponential time.
struct RandomFailureSpec {
  bool links = false;
  bool nodes = false;  ///< true: all hosts of a node fail together; neither links nor nodes: hosts
  std::string match = {};
  double mean_up = 0;    ///< mean seconds from a repair to the next failure, above 0
  double shape = 1;      ///< shape of the Weibull distribution, above 0
  double mean_down = 0;  ///< mean seconds of an outage, above 0
  bool operator==(const RandomFailureSpec&) const = default;
};

/// One outage, or a repeated one. A host that joins late has an outage from 0 on; a host that leaves has an outage
/// without end.
struct OutageSpec {
  bool links = false;
  bool nodes = false;  ///< true: all hosts of a node go down together; neither links nor nodes: hosts
  std::string match = {};
  double from = 0;
  double seconds = kForever;  ///< duration, seconds, above 0
  double every = 0;           ///< seconds between the beginnings of two outages, above `seconds`; 0: one outage
  double stagger = 0;         ///< seconds between the beginnings of the outages of consecutive matching hosts, nodes or
                              ///< links
  bool operator==(const OutageSpec&) const = default;
};

/// Times at which a host or link goes down or up, from a state profile of a platform file.
struct StateProfileSpec {
  struct Change {
    double at = 0;
    bool on = true;
    bool operator==(const Change&) const = default;
  };
  bool links = false;
  std::string name = {};
  std::vector<Change> changes = {};  ///< changes in order of time; the subject is up before the first one
  double period = 0;                 ///< period of repetition, seconds, above 0; 0: no repetition
  bool operator==(const StateProfileSpec&) const = default;
};

/// Presence of hosts. A host matched by several specifications is present when all of them say so.
struct AvailabilitySpec {
  enum class By : std::uint8_t { always, diurnal, sessions, file, steps };
  std::string hosts = {};
  By by = By::always;
  /// diurnal: present from `from` until `until` in every `period`, seconds. Each host has its own shift, uniform within
  /// −spread/2 … spread/2. If `until` is below `from`, the presence continues over midnight.
  double from = 0, until = 0, spread = 0, period = 86400;
  /// sessions: present for a Weibull time with mean `on` and this shape, then absent for one with mean `off` and the
  /// same shape. At the beginning, present with probability on / (on + off).
  double on = 0, off = 0, shape = 1;
  /// file: lines `host time on|off`, with non-decreasing times per host. Before its first line, a host is in the
  /// opposite state.
  std::string file = {};  ///< path of the file, absolute
  struct Change {
    std::string host = {};
    double at = 0;
    bool on = true;
    bool operator==(const Change&) const = default;
  };
  std::vector<Change> changes = {};  ///< changes read from the file
  /// steps: probability of presence in each step, 0…1, independent of everything else, including a step's duration.
  double chance = 1;
  /// Probability that a host leaves during training, and mean seconds until it returns (exponential). It leaves at a
  /// uniform moment of a computation. Applies with any `by`.
  double drop_out = 0, returns = 600;
  bool operator==(const AvailabilitySpec&) const = default;
};
constexpr auto names_of(AvailabilitySpec::By) {
  using enum AvailabilitySpec::By;
  return std::to_array<Name<AvailabilitySpec::By>>(
      {{always, "always"}, {diurnal, "diurnal"}, {sessions, "sessions"}, {file, "file"}, {steps, "steps"}});
}

/// Checkpoints of a node's state, from which the node continues after a failure. After every `every` seconds of
/// computing, the node stops for bytes ÷ storage. On return it waits `restore`, reads the bytes at the same rate, and
/// repeats the computing since the checkpoint.
struct CheckpointSpec {
  std::string hosts = "*";
  double every = 0;    ///< seconds of computing between checkpoints, above 0
  double bytes = 0;    ///< bytes of one checkpoint
  double storage = 0;  ///< byte/s of storage, above 0
  double restore = 0;  ///< seconds before reading begins: detection of the failure, start of a process
  bool operator==(const CheckpointSpec&) const = default;
};

struct FailureSpec {
  std::vector<RandomFailureSpec> random = {};
  std::vector<OutageSpec> outages = {};
  std::vector<AvailabilitySpec> availability = {};
  std::vector<CheckpointSpec> checkpoints = {};

  /// Returns whether a host or link changes at dates independent of steps.
  bool has_dates() const {
    const auto in_time = [](const AvailabilitySpec& one) { return one.by != AvailabilitySpec::By::steps; };
    return !random.empty() || !outages.empty() ||
           std::find_if(availability.begin(), availability.end(), in_time) != availability.end();
  }
  bool none() const { return random.empty() && outages.empty() && availability.empty() && checkpoints.empty(); }
  bool operator==(const FailureSpec&) const = default;
};

}  // namespace dadsim::spec
