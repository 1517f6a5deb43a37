#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "sim/network/interconnect.hpp"
#include "sim/network/link_trace.hpp"
#include "sim/step/replay.hpp"
#include "step/timeline.hpp"

namespace dadsim::sim {

/// Records the events of one step without affecting it. Dates are on the clock of the simulation.
class TimelineRecorder {
 public:
  /// `begin`: date at which the step begins, seconds. `most_spans`: approximate maximum of spans in its timeline.
  TimelineRecorder(const Nodes& nodes, const schedule::Schedule& schedule, double begin, std::size_t most_spans);

  /// Records a computation or a wait of a node. `node`: number in the schedule, workers first, then the aggregator.
  /// `task`: number in the schedule.
  void computed(std::size_t node, std::size_t task, double begin, double end) { add(node, task, begin, end, 0); }
  void waited(std::size_t node, std::size_t task, double begin, double end) { add(node, task, begin, end, 0); }
  /// Records the node's part in a collective. Calls are in the order of the tasks.
  void communicated(std::size_t node, std::size_t task, double begin, double end, bool only_receives) {
    const std::size_t line = Parts::line_of(schedule_.tasks[task]);
    add(node, task, begin, end, 1 + line + (only_receives ? Parts::kMostLines : 0));
  }
  /// Records the end of the step after `seconds`, when `last_worker` was done.
  void ended(double seconds, std::size_t last_worker) {
    seconds_ = seconds;
    last_ = last_worker;
  }
  LinkTrace& links() { return links_; }

  /// Returns the timeline. `fidelity`: that of the simulation.
  step::Timeline timeline(const Interconnect& network, const std::string& fidelity) const;

 private:
  struct RecordedEntry {
    std::int32_t task;
    double begin, end;
  };
  /// Tracks of a node: computations, and messages sent and received per line.
  static constexpr std::size_t kTracks = 1 + 2 * Parts::kMostLines;
  struct Streams {
    std::vector<RecordedEntry> entries[kTracks];
  };
  void add(std::size_t node, std::size_t task, double begin, double end, std::size_t track);
  std::vector<step::Timeline::Label> labels() const;
  double amount(std::size_t node, std::size_t task) const;
  std::vector<std::size_t> workers_to_show() const;
  std::vector<std::size_t> links_to_show(std::size_t budget) const;

  const Nodes& nodes_;
  const schedule::Schedule& schedule_;
  Parts parts_;
  double begin_;
  double seconds_ = 0;
  std::size_t last_ = 0;
  std::size_t most_spans_;
  std::vector<bool> keeps_;  ///< per node, whether it is recorded
  std::vector<Streams> streams_;
  LinkTrace links_;
};

}  // namespace dadsim::sim
