#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "spec/names.hpp"

// What goes wrong in a cluster while a run is simulated, and who is there when. Names are those of the
// platform's hosts, nodes and links, in which * stands for anything. Times are seconds from the beginning of the run,
// which is midnight.

namespace dadsim::spec {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

/// Hosts, links or nodes (all hosts of one together) that fail at random, each by itself: up for a Weibull time of this
/// mean and shape (1: exponential, failures without memory), then down for an exponential one.
struct RandomFailureSpec {
  bool links = false;
  bool nodes = false;  ///< of hosts, where neither
  std::string match = {};
  double mean_up = 0;    ///< seconds between the end of a repair and the next failure, above 0
  double shape = 1;      ///< above 0
  double mean_down = 0;  ///< seconds, above 0
  bool operator==(const RandomFailureSpec&) const = default;
};

/// An outage, or the same again and again. A host that joins late is one from 0 on, one that leaves one without end.
struct OutageSpec {
  bool links = false;
  bool nodes = false;  ///< of hosts, where neither
  std::string match = {};
  double from = 0;
  double seconds = kForever;  ///< above 0
  double every = 0;           ///< seconds between the beginnings of two, above `seconds`; 0: there is one
  double stagger = 0;         ///< of those that it fits each begins so many seconds behind the one before
  bool operator==(const OutageSpec&) const = default;
};

/// A host or link that is up or down by the state profile of a platform file.
struct StateProfileSpec {
  struct Change {
    double at = 0;
    bool on = true;
    bool operator==(const Change&) const = default;
  };
  bool links = false;
  std::string name = {};
  std::vector<Change> changes = {};  ///< up before the first one; times do not fall
  double period = 0;                 ///< after so many seconds they come again, above 0; 0: they do not
  bool operator==(const StateProfileSpec&) const = default;
};

/// When hosts are there. A host of several is there where all say so.
struct AvailabilitySpec {
  enum class By : std::uint8_t { always, diurnal, sessions, file, steps };
  std::string hosts = {};
  By by = By::always;
  /// diurnal: there from `from` until `until` of every `period`, each host shifted by a phase of its own, uniform
  /// within −spread/2 … spread/2. Seconds; `until` below `from` runs over midnight.
  double from = 0, until = 0, spread = 0, period = 86400;
  /// sessions: there for a Weibull time of mean `on` and this shape, away for one of mean `off` and the same shape; at
  /// the beginning there with probability on / (on + off).
  double on = 0, off = 0, shape = 1;
  /// file: lines `host time on|off`, times not falling for a host. Before its first line a host is what that line ends.
  std::string file = {};  ///< absolute path
  struct Change {
    std::string host = {};
    double at = 0;
    bool on = true;
    bool operator==(const Change&) const = default;
  };
  std::vector<Change> changes = {};  ///< what stands in it
  /// steps: there in each step with this chance, whatever else and however long a step takes, 0…1.
  double chance = 1;
  /// Any: with this probability a host goes away in the midst of training, at a moment uniform over a computation, and
  /// comes back after an exponential time of mean `returns` seconds.
  double drop_out = 0, returns = 600;
  bool operator==(const AvailabilitySpec&) const = default;
};
constexpr auto names_of(AvailabilitySpec::By) {
  using enum AvailabilitySpec::By;
  return std::to_array<Name<AvailabilitySpec::By>>(
      {{always, "always"}, {diurnal, "diurnal"}, {sessions, "sessions"}, {file, "file"}, {steps, "steps"}});
}

/// What a node's state is written to, so that it can go on after a failure: after every `every` seconds of computing it
/// stands still for bytes ÷ storage; coming back it waits `restore`, reads them at the same rate, and does again what
/// it had computed since.
struct CheckpointSpec {
  std::string hosts = "*";
  double every = 0;    ///< seconds of computing, above 0
  double bytes = 0;    ///< of one
  double storage = 0;  ///< byte/s, above 0
  double restore = 0;  ///< seconds before reading begins: detection, a new process
  bool operator==(const CheckpointSpec&) const = default;
};

struct FailureSpec {
  std::vector<RandomFailureSpec> random = {};
  std::vector<OutageSpec> outages = {};
  std::vector<AvailabilitySpec> availability = {};
  std::vector<CheckpointSpec> checkpoints = {};

  /// Something is up or down at dates, whatever steps there are.
  bool has_dates() const {
    const auto in_time = [](const AvailabilitySpec& one) { return one.by != AvailabilitySpec::By::steps; };
    return !random.empty() || !outages.empty() ||
           std::find_if(availability.begin(), availability.end(), in_time) != availability.end();
  }
  bool none() const { return random.empty() && outages.empty() && availability.empty() && checkpoints.empty(); }
  bool operator==(const FailureSpec&) const = default;
};

}  // namespace dadsim::spec
