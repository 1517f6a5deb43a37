#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/attendance.hpp"
#include "report/run/result.hpp"
#include "sim/platform.hpp"
#include "spec/specification.hpp"
#include "step/event_log.hpp"
#include "step/participation.hpp"
#include "step/timing.hpp"
#include "world/outage_calendar.hpp"
#include "world/participation_clock.hpp"

namespace dadsim::study {

/// Finds the sites that failed links cut off. Routes are fixed: traffic does not go around a failed link.
class Connectivity {
 public:
  /// Creates the connectivity of sites that are never cut off.
  explicit Connectivity(std::size_t sites) : cut_(sites) {}
  /// `hosts`: per site, the hosts of its devices, which exchange with one another and each with its counterpart at
  /// other sites. `server`: host of the aggregator; empty if sites exchange among themselves. `links`: links that can
  /// fail, in the calendar's order.
  Connectivity(const std::vector<sim::RouteLink>& routes, const std::vector<std::vector<std::string>>& hosts,
               const std::string& server, const std::vector<std::string>& links);

  /// Returns, per site, whether it is one of `candidates`, its devices reach each other, and it reaches the aggregator.
  /// Without an aggregator, the site must instead belong to a group of such sites that all reach each other; a greedy
  /// search looks for the largest group.
  std::vector<bool> reached(const world::OutageCalendar& calendar, const std::vector<bool>& candidates) const;

 private:
  using Links = std::vector<std::size_t>;
  static bool is_up(const world::OutageCalendar& calendar, const Links& links);
  std::vector<Links> cut_;                 ///< per site: links inside and to the aggregator, in both directions
  std::vector<std::vector<Links>> pairs_;  ///< per pair of sites: links in both directions; empty with an aggregator
};

/// Counts events and time of a run whose steps may lack sites, in the form of event-driven results. *Ensures*: the
/// times of all steps, including waits before them, add up to the run; every byte sent has arrived or is lost.
class AbsenceLog {
 public:
  /// `site_of`: per node, its site; the aggregator's is `sites`.
  AbsenceLog(std::size_t sites, std::vector<std::size_t> site_of);

  /// Participation counts that the methods below do not fill in: sites asked, messages sent again, facts.
  step::Participation participation;
  /// Steps begun per site, with or without a result.
  std::vector<std::int64_t> begun;

  /// Adds idle seconds before the next step.
  void wait(double seconds) { before_.seconds += seconds; }
  /// Adds `share` of `timing` before the next step. `arrives` false: the bytes sent are lost.
  void add(const step::StepTiming& timing, double share, bool arrives);
  /// Marks a share of added computing as wasted.
  void waste(const step::StepTiming& timing, double share);
  /// Ends a step of these sites at `now`. Returns its timing, including all time added before it.
  step::StepTiming step(const std::vector<std::int32_t>& of, const std::vector<std::int64_t>& rows,
                        const step::StepTiming& timing, double now);
  /// Ends a step that these sites had begun, without a result.
  void broken_off(const std::vector<std::int32_t>& of, double begin, double end);
  /// Adds a checkpoint, written by all nodes after a step.
  void write_checkpoint(double seconds, step::StepTiming& step);

  /// Records a step of these sites during which a node goes down; the outage is counted from the end of the step.
  void outlast(const std::vector<std::int32_t>& of, double begin, double end);

  /// Returns the counts of a run that ends at `end`. `hosts`: per site, then the aggregator. Busy times of a site are
  /// means over its devices; a site is down if one of its devices is.
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

/// Thrown if a step waits for a node that will never come back. The message names the node.
class NobodyComes : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Plays the outages and repairs of hosts and links during a run. The caller asks before each step which sites take
/// part, and reports the step's duration afterwards. This class neither learns nor simulates.
///
/// A step fails if one of its sites goes down or is cut off during the step. The bytes sent until then are lost; they
/// are assumed to be spread evenly over the step. The expected timing decides whether an outage falls into a step. If
/// the step then takes longer than expected, an outage in the excess time counts after the step.
///
/// A site whose host has gone down has lost its memory. Such a site, or one that missed steps, gets the model before
/// its next step: from the aggregator, or from a site with the model. State that no other node has (the compressor's
/// memory, the site's data) is kept on disk. If all nodes with the model went down, those that had it last continue
/// from their disks. Sites with weights of their own continue with these.
///
/// With `restart`, all nodes return to the last checkpoint and repeat the steps since then. Checkpoints are written
/// after a given number of computing seconds.
class AbsenceClock {
 public:
  struct AbsenceCheckpoints {
    double every = 0;    ///< seconds of computing
    double write = 0;    ///< seconds that all sites wait for a checkpoint to be written
    double restore = 0;  ///< seconds until all sites have read the checkpoint again
  };
  struct AbsenceSetting {
    spec::AbsenceSpec absence = {};
    std::size_t sites = 0;
    std::vector<std::size_t> site_of;  ///< per node of the calendar, its site; the aggregator's is `sites`
    bool server = false;               ///< the aggregator takes part in every step: the last node
    bool common_model = true;          ///< sites share their weights
    std::vector<double> chances = {};  ///< per site: probability to take part in a step while present; empty: 1
    bool has_dates = true;             ///< outages also make sites present or absent by date
    std::uint64_t seed = 1;
    AbsenceCheckpoints checkpoints = {};
    std::vector<std::string> names = {};  ///< names of sites, then of the aggregator
    /// Returns the timing of sending the model to sites at a date, from a site or from the aggregator (−1).
    std::function<step::StepTiming(std::int32_t from, const std::vector<std::int32_t>& to, double date)> hand_over;
    /// Returns the expected timing of step `number` of these sites at a date. If null, or if the result is none, the
    /// last step of the same sites is used, else the last step.
    std::function<std::optional<step::StepTiming>(std::int64_t number, const std::vector<std::int32_t>& sites,
                                                  double date)>
        foresee = {};
  };
  AbsenceClock(AbsenceSetting setting, world::OutageCalendar& calendar, Connectivity connectivity);

  double now() const { return now_; }
  /// Returns per site the steps begun until now, with or without a result.
  const std::vector<std::int64_t>& begun() const { return log_.begun; }
  /// Makes next() return no sites once a site has begun `most` steps.
  void limit_begun(std::int64_t most) { most_begun_ = most; }

  /// Advances until step `number` begins, and returns the sites that take part. `rows`: per site, rows of its batch.
  /// Throws NobodyComes.
  algorithms::Attendance::Present next(std::int64_t number, const std::vector<std::int64_t>& rows);
  /// Ends the step of these sites; `timing` has a place for every node of the calendar. Returns the step's timing
  /// including everything before it: waiting, steps without a result, sending the model.
  step::StepTiming took(const std::vector<std::int32_t>& sites, const std::vector<std::int64_t>& rows,
                        const step::StepTiming& timing);

  /// Returns the counts of the whole run. `hosts`: per site, then the aggregator.
  report::EventDrivenResult result(std::vector<std::string> hosts);

 private:
  using Sites = std::vector<std::int32_t>;

  bool goes_without() const { return setting_.absence.goes_without(); }
  std::size_t nodes() const { return setting_.site_of.size(); }
  bool server_is_up() const { return !setting_.server || calendar_.is_up(nodes() - 1); }
  std::vector<bool> there() const;
  bool all_here(const Sites& sites) const;
  void catch_up();
  void notice_losses();
  void wait_until(double date);
  bool is_in_vain() const;
  void wait_for_change(const std::string& what);
  std::optional<double> broken_off(double end, const Sites& sites);
  bool interrupt(const step::StepTiming& timing, double date);
  bool passes(const step::StepTiming& timing, const Sites& sites, bool worth_something);
  bool bring_up_to_date(const Sites& sites);
  bool restore();
  bool goes_through(std::int64_t number, const Sites& sites);
  std::optional<step::StepTiming> foreseen(std::int64_t number, const Sites& sites) const;
  Sites everyone() const;

  AbsenceSetting setting_;
  world::ParticipationClock clock_;
  AbsenceLog log_;
  world::OutageCalendar& calendar_;
  Connectivity connectivity_;
  double now_ = 0;
  double progress_at_ = 0;
  std::int64_t changes_waited_ = 0;  ///< outages and repairs since the wait for the current step began
  std::vector<bool> has_model_, on_disk_;
  std::vector<std::int64_t> seen_down_;  ///< per site: how often its nodes had gone down when last checked
  bool to_restore_ = false;
  std::vector<step::StepTiming> since_checkpoint_;
  double computed_ = 0;  ///< seconds of computing since the last checkpoint
  std::optional<std::int64_t> most_begun_;
  std::map<Sites, step::StepTiming> last_of_;
  std::optional<step::StepTiming> last_;
};

}  // namespace dadsim::study
