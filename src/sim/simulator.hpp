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

/// An error of the simulation itself (a deadlock, a link that is down). The message contains SimGrid's words.
class SimulationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Simulated cluster: the host and device of each worker.
struct Cluster {
  spec::PlatformSpec platform;
  std::vector<std::string> hosts;         ///< host of each worker
  std::vector<spec::DeviceSpec> devices;  ///< device of each worker
  std::string aggregator_host;            ///< host of the aggregator; empty without an aggregator
  spec::DeviceSpec aggregator_device;
  spec::NetworkSpec network;
  spec::FrameworkSpec framework = {};  ///< framework that carries out collectives, and messages of event-driven runs
  std::uint64_t seed = 1;              ///< seed of the jitter
  /// Numbers of the workers, and then of the aggregator, in a larger cluster, which select the jitter. Empty: 0, 1, 2,
  /// …
  std::vector<std::uint32_t> numbers = {};
  /// Changes of the platform's links, in order. If several changes match a link, their factors are multiplied.
  /// Variations over time are relative to the changed values.
  std::vector<spec::LinkChange> changes;
  /// Forbids simulation message by message, for a search that times many schedules. Collectives that flow refuses then
  /// fail, and overlooked effects are reported as possible errors.
  bool flow_alone = false;
  /// Times steps again without each of their causes (computing, the network, the framework), which limits the cause's
  /// share of the critical path. If false, only times are computed: shares may then exceed the time saved by removing a
  /// cause.
  bool causes = true;
};

/// Times of the steps of a run.
struct TimedRun {
  std::vector<step::StepTiming>
      steps;  ///< timing of each schedule on warm connections; interpolated steps have only seconds and bytes
  /// Number of the run's steps that each schedule's time represents in means over the run, if some timings are
  /// interpolated. Empty: each schedule represents its own occurrences.
  std::vector<double> stand_for;
  std::optional<step::StepTiming> first;  ///< timing of the first schedule on cold connections, if different
  /// Set for a run without a barrier between its steps (see schedule::has_barrier); otherwise empty. Seconds from the
  /// run's beginning, on cold connections, until the last worker has finished the first, the second … step. Every
  /// further step takes the time in `steps`.
  std::vector<double> first_steps;
  step::NetworkUse network;
  std::vector<std::shared_ptr<const step::Timeline>> timelines;  ///< timelines, if requested
  std::shared_ptr<const step::Timeline> first_timeline;          ///< timeline of the first step, if requested;
                                                                 ///< otherwise nullptr
};

/// Options of time_schedules.
struct TimingRequest {
  /// Number of steps of the run with each schedule, for means over the run. Empty: one step each.
  std::vector<double> occurrences;
  const schedule::StepKinds* kinds = nullptr;  ///< kinds of the schedules; null: not known yet
  std::vector<std::size_t> trace;              ///< schedules that need a timeline
  /// Requests a timeline of the first schedule as the first step of the run, on cold connections if these take longer.
  bool trace_first = false;
  std::size_t first_step = 0;        ///< number of the first schedule's step in the run; selects its jitter
  double begins_at = 0;              ///< date of the first schedule, seconds; has an effect if the platform changes
                                     ///< over time
  std::size_t most_spans = 300'000;  ///< approximate maximum of spans in a timeline; further workers and links are left
                                     ///< out
};

/// Times every schedule on an idle cluster, one after the other, in one forked process (SimGrid's engine is a singleton
/// with a clock that never goes back). A schedule with fewer workers than the cluster uses the first ones. Each
/// distinct schedule is simulated once; with NetworkSpec::timed_steps only a sample of them. If times change from step
/// to step (every_step_differs), each schedule is simulated. A schedule without a barrier is timed in a run of equal
/// consecutive steps; its time is the delay that each further step adds. `progress` is called with the number of
/// finished schedules. Throws SimulationError.
TimedRun time_schedules(const Cluster& cluster, std::span<const schedule::Schedule> schedules,
                        const std::function<void(std::size_t)>& progress = {}, const TimingRequest& request = {});

/// Returns whether equal steps take different times, because the platform varies, has background traffic, or computing
/// jitters. The schedules of time_schedules should then be all steps of a run in order.
bool every_step_differs(const Cluster& cluster);
/// Returns whether the network or its background traffic differs from step to step. Jitter does not count, since it
/// concerns computations only.
bool network_differs(const Cluster& cluster);

/// A single collective to be timed.
struct CollectiveJob {
  collectives::CollectiveRequest request;
  std::string algorithm = "auto";
  std::vector<std::size_t> ranks = {};  ///< workers of the cluster that are the ranks; empty: all workers
  bool traffic = false;  ///< asks for the bytes of every rank, and of every link in the mean of such jobs
};

struct CollectiveTiming {
  std::string algorithm;              ///< algorithm of the job, or the one chosen for "auto" or "best"
  std::optional<Statement> compared;  ///< algorithms that "best" was compared with
  std::string protocol;               ///< protocol of NCCL or RCCL for all messages; may be empty
  std::optional<Statement> quicker;   ///< quickest algorithm of the library, if notably quicker than the library's
                                      ///< choice
  spec::Fidelity fidelity = spec::Fidelity::message;
  double seconds = 0;       ///< seconds until the last rank is done, on warm connections
  double cold_seconds = 0;  ///< seconds until the last rank is done, on new connections
  double messages = 0;
  std::vector<double> sent, received;  ///< bytes of each rank; empty unless requested
};

struct TimedCollectives {
  std::vector<CollectiveTiming> timings;  ///< timing of each job
  step::NetworkUse network;
};

/// Times each job on an idle cluster, begun by all ranks together. Throws SimulationError.
TimedCollectives time_collectives(const Cluster& cluster, std::span<const CollectiveJob> jobs,
                                  const std::function<void(std::size_t)>& progress = {});

/// Describes, for every result, the model of the network.
std::string network_model_description();

/// Returns, for example, "3.32".
std::string simgrid_version();

}  // namespace dadsim::sim
