#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "report/run/result.hpp"
#include "step/event_log.hpp"
#include "step/participation.hpp"
#include "step/timing.hpp"
#include "world/outage_calendar.hpp"

namespace dadsim::study {

/// Counts what becomes of a run in whose steps sites may be missing, as event-driven runs count it. *Ensures*: the
/// seconds of all steps, with what was before each, add up to the run; every byte that is sent has arrived or is lost.
class AbsenceLog {
 public:
  /// `site_of`: per node, its site; the aggregator's is `sites`.
  AbsenceLog(std::size_t sites, std::vector<std::size_t> site_of);

  /// What the methods below do not count: who was asked, what was sent again, facts.
  step::Participation participation;
  /// Per site, the steps that it has begun, those that came to nothing among them.
  std::vector<std::int64_t> begun;

  /// Before the next step: nothing goes on for so long.
  void wait(double seconds) { before_.seconds += seconds; }
  /// Before the next step: a share of what takes that time. What does not arrive is lost.
  void add(const step::StepTiming& timing, double share, bool arrives);
  /// Of what was added: it was computed for nothing.
  void waste(const step::StepTiming& timing, double share);
  /// A step of these sites ends at `now`. Returns what it took, with what was before it.
  step::StepTiming step(const std::vector<std::int32_t>& of, const std::vector<std::int64_t>& rows,
                        const step::StepTiming& timing, double now);
  /// A step that these sites had begun comes to nothing.
  void broken_off(const std::vector<std::int32_t>& of, double begin, double end);
  /// All nodes write a checkpoint behind a step.
  void write_checkpoint(double seconds, step::StepTiming& step);

  /// A step of these sites is taken that something goes down in: what does comes after it.
  void outlast(const std::vector<std::int32_t>& of, double begin, double end);

  /// Of the run, which ends at `end`. `hosts`: per site, then the aggregator. Devices of a site are busy in the mean,
  /// and down where one of them is.
  report::EventDrivenResult result(double end, const world::OutageCalendar& calendar,
                                   std::vector<std::string> hosts) const;

 private:
  void note(const std::vector<std::int32_t>& of, double begin, double end, step::Participation::Part::End how);

  std::size_t sites_;
  std::vector<std::size_t> site_of_;
  step::StepTiming before_;
  std::vector<step::EventLog::NodeUse> nodes_;
  std::vector<std::vector<std::pair<double, double>>> outlasted_;  ///< per site, and the aggregator: steps with outages
};

}  // namespace dadsim::study
