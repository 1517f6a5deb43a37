#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "schedule/assignment.hpp"
#include "sim/simulator.hpp"
#include "step/trajectory.hpp"
#include "study/absence/absence_clock.hpp"
#include "study/learning/learned.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// Simulates the times of steps with the sites present. A step simulated before is not simulated again, unless every
/// step has its own time.
class StepTimes {
 public:
  /// `learned`: shape of the learning network. `cluster`: the cluster of all sites.
  StepTimes(const scenario::Scenario& scenario, const spec::RunSpec& run, const spec::ModelShape& learned,
            const TimedAs& timed, const sim::Cluster& cluster);

  /// Simulates all distinct steps of a trajectory without absent sites, at once; does not, if every step has its own
  /// time. `assignment`: chosen alternatives of layers, per structure.
  void know_all(const step::Trajectory& trajectory, const std::vector<step::Assignment>& assignment);
  /// Returns the timing of distinct step `index` as step `number` of the run (from 0), at that date. The timing has
  /// places for all devices and, last, the aggregator. Throws SimulationError.
  step::StepTiming of(const step::Trajectory& trajectory, std::size_t index, std::int64_t number, double date);
  /// Returns the expected timing of a step without counting it.
  step::StepTiming foresee(const step::Trajectory& trajectory, std::size_t index, std::int64_t number, double date);
  /// Returns the timing of sending the model (weights and optimizer state) from a site, or from the aggregator (−1), to
  /// others.
  step::StepTiming hand_over(std::int32_t from, const std::vector<std::int32_t>& to, double date);
  double model_bytes() const { return model_bytes_; }

  /// Returns the network use: means over the counted steps.
  step::NetworkUse network() const;

 private:
  using Sites = std::vector<std::int32_t>;

  struct KnownStepTime {
    step::StepTiming timing;
    std::optional<step::StepTiming> first;  ///< timing of the run's step 0, if different
    std::vector<step::LinkUse> links;

    const step::StepTiming& as(std::int64_t number) const { return number == 0 && first ? *first : timing; }
  };
  const KnownStepTime& known(const step::Trajectory& trajectory, std::size_t index, std::int64_t number, double date);
  Sites all_sites() const;
  schedule::Schedule schedule(const step::Trajectory& trajectory, const step::Step& step) const;
  sim::Cluster cluster_of_sites(const Sites& sites, bool one_device) const;
  step::StepTiming in_places(step::StepTiming timing, const Sites& sites, bool one_device = false) const;
  void count(const KnownStepTime& known);
  std::size_t devices_per_site() const { return cluster_.hosts.size() / sites_; }
  std::vector<std::size_t> devices_of(const Sites& sites, bool one_device) const;

  const spec::RunSpec& run_;
  spec::ModelShape learned_;
  const TimedAs& timed_;
  const sim::Cluster& cluster_;
  std::size_t sites_ = 0;
  bool decentralised_ = false, every_step_differs_ = false;
  double model_bytes_ = 0;
  std::vector<step::Assignment> assignment_;
  std::map<std::size_t, KnownStepTime> known_;                          ///< by distinct step
  std::tuple<std::size_t, std::int64_t, double> last_asked_{0, -1, 0};  ///< key of `last_known_`
  KnownStepTime last_known_;
  std::map<std::pair<std::int32_t, Sites>, step::StepTiming> handed_;  ///< by sender and receivers of the model
  step::NetworkUse network_;
  bool has_network_ = false;
  double steps_ = 0, seconds_ = 0;
  std::map<std::string, step::LinkUse> carried_;  ///< sums over the steps
};

/// A run with outages, and its times.
struct AbsenceRun {
  LearnedRunPtr learned;                     ///< the given run, or the one learned by the sites present
  step::Trajectory trajectory;               ///< every step separately
  sim::TimedRun timings;                     ///< per step, including all time since the previous step
  std::vector<step::Assignment> assignment;  ///< chosen alternatives of layers
  report::EventDrivenResult counted;
};

/// Plays the run through its outages on a cluster. If the run goes on without absent sites, it learns here, step by
/// step. Otherwise `learned` has all its steps, and only their dates are found. If a step waits for a site that never
/// returns, the run ends there and keeps what was learned before. `progress` is called with the number of steps done.
/// Throws SimulationError, Cancelled.
AbsenceRun run_with_absence(const scenario::Scenario& scenario, const spec::RunSpec& run, const LearnedRunPtr& learned,
                            const TimedAs& timed, const sim::Cluster& cluster, SharedCache& shared_cache,
                            const std::function<void(std::int64_t)>& progress = {});

/// Learns the run with another seed, which also draws its outages. *Requires* a run that goes on without absent sites.
LearnedRunPtr learn_with_absence(const scenario::Scenario& scenario, const spec::RunSpec& run,
                                 const LearnedRun& described, const TimedAs& timed, const sim::Cluster& cluster,
                                 SharedCache& shared_cache, std::uint64_t seed);

}  // namespace dadsim::study
