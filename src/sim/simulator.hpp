#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "schedule/schedule.hpp"
#include "schedule/step_kinds.hpp"
#include "spec/framework_specification.hpp"
#include "spec/specification.hpp"
#include "step/timeline.hpp"
#include "step/timing.hpp"
#include "support/statement.hpp"

namespace dadsim::sim {

/// The simulation itself failed (a deadlock, a link that is down). The message carries SimGrid's words.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The simulated cluster: where each worker runs, and on what.
struct Cluster {
  spec::PlatformSpec platform;
  std::vector<std::string> hosts;         ///< per worker
  std::vector<spec::DeviceSpec> devices;  ///< per worker
  std::string aggregator_host;            ///< empty if there is none
  spec::DeviceSpec aggregator_device;
  spec::NetworkSpec network;
  spec::FrameworkSpec framework = {};  ///< that carries collectives out, and the messages of event-driven runs
  std::uint64_t seed = 1;              ///< of the jitter
  /// Of some of the workers of a larger cluster: the number of each there, and of the aggregator behind them, by which
  /// its speed jitters. Empty: 0, 1, 2, …
  std::vector<std::uint32_t> numbers = {};
  /// To the platform, one after the other: a link that several fit gets the product. What changes over time does so
  /// relative to the changed numbers.
  std::vector<spec::LinkChange> changes;
  /// Nothing is simulated message by message: what flow does not take fails, and what it overlooks is told as what it
  /// may be wrong by. For a search that times many.
  bool flow_alone = false;
  /// Steps are timed again without each of their causes (computing, the network, the framework), which bounds its share
  /// of the critical path. False where times alone are looked at: shares may then exceed what removing a cause saves.
  bool causes = true;
};

/// Steps of a run, timed.
struct TimedRun {
  std::vector<step::StepTiming>
      steps;  ///< per schedule, on connections that are warm; interpolated: seconds and bytes alone
  /// Where some are interpolated: per schedule, how many steps of the run the parts of its time stand for in means over
  /// the run. Empty: as many as it occurs.
  std::vector<double> stand_for;
  std::optional<step::StepTiming> first;  ///< the first schedule on cold connections, where that makes a difference
  /// For a run without a barrier between its steps (see schedule::has_barrier), the seconds from its beginning, on cold
  /// connections, until the last worker was done with the first, the second … step, until every further step takes what
  /// `steps` says. Otherwise empty.
  std::vector<double> first_steps;
  step::NetworkUse network;
  std::vector<std::shared_ptr<const step::Timeline>> timelines;  ///< as asked for
  std::shared_ptr<const step::Timeline> first_timeline;          ///< likewise; nullptr otherwise
};

/// What is wanted of time_schedules beside the times.
struct TimingRequest {
  /// Per schedule: how many steps of the run are it, for means over the run. Empty: one each.
  std::vector<double> occurrences;
  const schedule::StepKinds* kinds = nullptr;  ///< of the schedules, where they are known already
  std::vector<std::size_t> trace;              ///< schedules of which a timeline is wanted
  /// A timeline of the first schedule as the first of the run: on cold connections, where that makes a difference.
  bool trace_first = false;
  std::size_t first_step = 0;        ///< of a run, by which speeds jitter: the number of the first schedule
  double begins_at = 0;              ///< seconds: the date of the first schedule, where the platform changes over time
  std::size_t most_spans = 300'000;  ///< that a timeline may have, roughly: workers and links are left out for it
};

/// Times every schedule on an idle cluster, one after the other, in one forked process (SimGrid's engine is a singleton
/// with a clock that never goes back). A schedule of fewer workers than the cluster has uses the first ones. Distinct
/// schedules are simulated once, or a sample of them (NetworkSpec::timed_steps), unless times change from step to step:
/// see every_step_differs. A schedule without a barrier is timed as one of many like it that follow one another: its
/// seconds are those by which every further step delays the end. `progress` is called with the number done. Throws
/// SimulationError.
TimedRun time_schedules(const Cluster& cluster, std::span<const schedule::Schedule> schedules,
                        const std::function<void(std::size_t)>& progress = {}, const TimingRequest& request = {});

/// Whether equal steps take different times (the platform varies over time, others use it too, or computing jitters):
/// then the schedules of time_schedules should be all steps of a run in order.
bool every_step_differs(const Cluster& cluster);
/// Whether the network, or what others put on it, differs from step to step; jitter alone is of computations.
bool network_differs(const Cluster& cluster);

/// A collective to be timed by itself; the hosts of the cluster are its ranks.
struct CollectiveJob {
  collectives::CollectiveRequest request;
  std::string algorithm = "auto";
};

struct CollectiveTiming {
  std::string algorithm;              ///< what "auto" or "best" stood for
  std::optional<Statement> compared;  ///< with what "best" was compared
  std::string protocol;               ///< of NCCL and RCCL, for all messages; may be empty
  std::optional<Statement> quicker;   ///< what of the library's own algorithms is quicker than its choice
  spec::Fidelity fidelity = spec::Fidelity::message;
  double seconds = 0;       ///< until the last rank is done, on warm connections
  double cold_seconds = 0;  ///< on new connections
  double messages = 0;
};

struct TimedCollectives {
  std::vector<CollectiveTiming> timings;  ///< per job
  step::NetworkUse network;
};

/// All ranks begin each job at the same time, on an idle cluster. Throws SimulationError.
TimedCollectives time_collectives(const Cluster& cluster, std::span<const CollectiveJob> jobs,
                                  const std::function<void(std::size_t)>& progress = {});

/// In words, for every result: how the network is modelled.
std::string network_model_description();

/// E.g. "3.32".
std::string simgrid_version();

}  // namespace dadsim::sim
