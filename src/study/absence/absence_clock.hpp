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
#include "world/presence.hpp"

namespace dadsim::study {

/// Whom links that are down cut off. There is no other way round one.
class Connectivity {
 public:
  /// Nobody is ever cut off.
  explicit Connectivity(std::size_t sites) : cut_(sites) {}
  /// `hosts`: of every site those of its devices, which exchange with one another and each with its like of other
  /// sites; `server`: of the aggregator, empty where sites exchange among themselves. `links`: those that can fail, as
  /// the calendar numbers them.
  Connectivity(const std::vector<sim::RouteLink>& routes, const std::vector<std::vector<std::string>>& hosts,
               const std::string& server, const std::vector<std::string>& links);

  /// Per site, whether it reaches the aggregator; among peers, whether it is of the largest group of `candidates` of
  /// which all reach each other, as far as taking one site after the other finds it.
  std::vector<bool> reached(const world::OutageCalendar& calendar, const std::vector<bool>& candidates) const;

 private:
  using Links = std::vector<std::size_t>;
  static bool is_up(const world::OutageCalendar& calendar, const Links& links);
  std::vector<Links> cut_;                 ///< per site, links inside it and to the aggregator, both ways
  std::vector<std::vector<Links>> pairs_;  ///< per site and later site, both ways; empty with an aggregator
};

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

/// Nobody will come back for whom a step waits. The words say who.
class NobodyComes : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Walks through a run that takes steps while hosts and links go down and come up. Before a step it says who takes part
/// in it; after it, told how long the step took, it goes on by so much. It neither learns nor simulates: how long a
/// step takes it is told.
///
/// A step that is under way when one of its sites goes down, or is cut off, comes to nothing: what it has sent until
/// then, taken as even over its time, is lost. Whether an outage falls into a step is decided by what is foreseen of
/// it. Where that is the last step of the same sites, and this one takes longer, an outage in the rest of it comes
/// after it.
///
/// A site whose host has gone down has lost what was in its memory: when it is back, and when it has missed steps, it
/// gets the model from the aggregator, or from a site that has it, before the step that it takes part in. What nobody
/// else knows (what its compressor remembers, its data) it keeps on its disk. Where all that have the model have been
/// down, those that had it last go on from their disks. Sites with weights of their own go on with those that they had.
///
/// With `restart` all go back to the last checkpoint, written after every so many seconds of computing, and take the
/// steps since then again.
class AbsenceClock {
 public:
  struct AbsenceCheckpoints {
    double every = 0;    ///< seconds of computing
    double write = 0;    ///< seconds that all stand still for one
    double restore = 0;  ///< seconds until all have read it again
  };
  struct AbsenceSetting {
    spec::AbsenceSpec absence = {};
    std::size_t sites = 0;
    std::vector<std::size_t> site_of;  ///< per node of the calendar, its site; the aggregator's is `sites`
    bool server = false;               ///< the aggregator takes part in every step: the last node
    bool common_model = true;          ///< sites share their weights
    std::vector<double> chances = {};  ///< per site, to take part in a step that it is there for; empty: 1
    bool has_dates = true;             ///< sites are also up and down by dates
    std::uint64_t seed = 1;
    AbsenceCheckpoints checkpoints = {};
    std::vector<std::string> names = {};  ///< of sites, then of the aggregator
    /// What it takes to hand the model to sites at a date: from a site, or from the aggregator (−1).
    std::function<step::StepTiming(std::int32_t from, const std::vector<std::int32_t>& to, double date)> hand_over;
    /// What step `number` of those sites will take at a date; nothing, or none: as the last step of the same sites, or
    /// the last step.
    std::function<std::optional<step::StepTiming>(std::int64_t number, const std::vector<std::int32_t>& sites,
                                                  double date)>
        foresee = {};
  };
  AbsenceClock(AbsenceSetting setting, world::OutageCalendar& calendar, Connectivity connectivity);

  double now() const { return now_; }
  /// Per site, the steps that it has begun until now, those that came to nothing among them.
  const std::vector<std::int64_t>& begun() const { return log_.begun; }
  /// From now on next() says nobody once a site has begun so many steps.
  void limit_begun(std::int64_t most) { most_begun_ = most; }

  /// Goes on until step `number` begins, and says who takes part in it. `rows`: per site, those of its batch. Throws
  /// NobodyComes.
  algorithms::Attendance::Present next(std::int64_t number, const std::vector<std::int64_t>& rows);
  /// The step of those sites took so long; all nodes of the calendar have their place in `timing`. Returns what it took
  /// with all that was before it: waiting, what came to nothing, handing over the model.
  step::StepTiming took(const std::vector<std::int32_t>& sites, const std::vector<std::int64_t>& rows,
                        const step::StepTiming& timing);

  /// What is to be told of it all. `hosts`: per site, then the aggregator.
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
  bool passes(const step::StepTiming& timing, const Sites& sites, bool worth_something);
  bool bring_up_to_date(const Sites& sites);
  bool restore();
  bool goes_through(std::int64_t number, const Sites& sites);
  std::optional<step::StepTiming> foreseen(std::int64_t number, const Sites& sites) const;
  std::vector<double> chances_of(const Sites& sites, const Sites& here, const std::vector<std::int64_t>& rows) const;
  Sites everyone() const;

  AbsenceSetting setting_;
  AbsenceLog log_;
  world::OutageCalendar& calendar_;
  Connectivity connectivity_;
  double now_ = 0;
  double progress_at_ = 0;
  std::int64_t changes_waited_ = 0;  ///< since then
  std::vector<bool> has_model_, on_disk_;
  std::vector<std::int64_t> seen_down_;  ///< per site, of its nodes together
  bool to_restore_ = false;
  std::vector<step::StepTiming> since_checkpoint_;
  double computed_ = 0;  ///< since the last checkpoint, seconds
  std::optional<std::int64_t> most_begun_;
  std::map<Sites, step::StepTiming> last_of_;
  std::optional<step::StepTiming> last_;
  world::TimesThere was_there_;
};

}  // namespace dadsim::study
