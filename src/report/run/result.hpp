#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimate/bands.hpp"
#include "estimate/convergence.hpp"
#include "estimate/efficiency.hpp"
#include "estimate/memory.hpp"
#include "estimate/verdict.hpp"
#include "report/words/statement.hpp"
#include "spec/evaluation_specification.hpp"
#include "spec/specification.hpp"
#include "step/event_log.hpp"
#include "step/participation.hpp"
#include "step/timeline.hpp"
#include "step/timing.hpp"
#include "step/trajectory.hpp"

namespace dadsim::report {

/// Accuracies of a run's last model on held-back data of sites with distribution shift, with several corrections of the
/// shift (arms).
struct ShiftEvaluation {
  /// One kind of held-back data, with one size of test batches.
  struct Row {
    std::string corruption = "none";
    std::int64_t severity = 0;       ///< 0: without corruption
    double label_alpha = 0;          ///< 0: unchanged classes
    std::int64_t batch = 0;          ///< requested number of samples that a site corrects together
    std::vector<double> accuracies;  ///< accuracy per arm, 0…1, over the samples of all sites
  };
  std::vector<std::string> arms;  ///< names of the arms; the first is the unchanged model, "source"
  std::vector<Row> rows;

  std::int64_t quantiles = 0;         ///< quantiles of each unit
  double input_bytes = 0;             ///< bytes of the features' quantiles, which are sent with the model
  double norm_bytes = 0;              ///< bytes of the quantiles for batch norms; 0 if there are none
  std::int64_t samples = 0;           ///< number of held-back samples of all sites
  std::int64_t fewest = 0, most = 0;  ///< smallest and largest number of held-back samples of a site

  /// Returns the arm with the highest accuracy; of equal ones the first.
  static std::size_t best_arm(const Row& row);
};

/// Returns the heading of a run's table, its rows (titles first), and sentences on rows in which a correction is worse
/// than no correction.
std::string shift_heading(const std::string& label);
std::vector<std::vector<std::string>> shift_rows(const ShiftEvaluation& evaluation);
std::vector<std::string> shift_sentences(const std::string& label, const ShiftEvaluation& evaluation);
/// Returns the whole evaluation as text for a terminal.
std::string shift_table(const std::string& label, const ShiftEvaluation& evaluation);

/// Mean and standard deviation over the seeds of a run; the deviation of one seed is unknown.
struct OverSeeds {
  double mean = 0, deviation = 0;
};

/// A point of a learning curve, and the simulated time at which it was reached.
struct CurvePoint {
  std::int64_t step = 0;
  double seconds = 0;  ///< simulated seconds since the start of training, without evaluation
  double loss = 0;
  double accuracy = 0;
  double auc = 0;
  double bytes = 0;  ///< bytes sent by all nodes since the start of training
  /// Passes of an event-driven run's participants over the training data. For other runs, passes follow from the steps.
  std::optional<double> epochs = {};
  std::optional<step::SitesEvaluation> sites = {};  ///< filled if sites have weights of their own
};

/// Steps to an additional target accuracy.
struct ScaleAtTarget {
  double target = 0;  ///< accuracy, 0…1
  estimate::StepsToTarget steps_to_target;
  estimate::RelativeSteps relative;
};

/// The scale study that gives relative steps, in place of the learning network.
struct FromLadder {
  std::string study;                                ///< name of the study's scenario
  std::size_t rungs = 0;                            ///< number of rungs in the fit
  bool trend = false;                               ///< true: the fit shows a trend
  double decades_beyond = 0;                        ///< decades between the study's largest network and the timed one
  std::optional<estimate::Estimate> measured = {};  ///< relative steps of the learning network
};

/// A run's time to accuracy at scale, and its factors.
struct ScaleResult {
  estimate::StepsToTarget steps_to_target;  ///< by seed, of the learning network
  estimate::RelativeSteps relative;
  std::optional<estimate::Estimate> time;   ///< seconds; filled if steps and relative steps are known
  std::vector<ScaleAtTarget> further = {};  ///< in the order of the scenario
  /// The time with the errors of a step included. Combines the interval of relative steps (95 %, converted to 90 %)
  /// with the band of a step: their logarithmic widths add in squares.
  std::optional<estimate::Estimate> time_band = {};
  std::optional<FromLadder> ladder = {};  ///< filled if the scenario names a study that covers this run

  /// Returns the least and the greatest relative steps over all targets; nothing if fewer than two are known.
  std::optional<std::pair<double, double>> range_over_targets() const;
};

/// Description of a loss that diverged.
struct Divergence {
  std::int64_t step = 0;  ///< first step from which the loss is never finite again; the last step if its loss is finite
  double before = 0;      ///< loss of the untrained network
  double loss = 0;        ///< last loss
};

/// The costs of a period of training. Unknown costs are left out, never zero.
struct Costs {
  std::optional<double> money = {};   ///< in the scenario's currency
  std::optional<double> joules = {};  ///< joules of devices, and of the network if the scenario gives its energy
  std::optional<double> carbon = {};  ///< grams of CO2 equivalent
};

/// The expected course of a period of training on interruptible (spot) machines.
struct SpotCosts {
  double seconds = 0;           ///< seconds, including repeated work, checkpoints and restarts
  double slowdown = 1;          ///< total seconds ÷ seconds without interruptions
  double interruptions = 0;     ///< expected number of interruptions of all machines together
  double checkpoint_every = 0;  ///< seconds
  Costs costs = {};
};

/// The costs of a run.
struct RunCosts {
  Costs whole;
  std::optional<Costs> to_target;  ///< costs until the target; nothing if it was not reached
  std::optional<Costs> at_scale;   ///< costs of the steps that the workload needs; nothing if their number is unknown
  Costs per_step;
  std::optional<double> per_month = {};  ///< money per month of permanent operation
  /// Interruptions over the steps that the workload needs if their number is known, else until the target, else over
  /// the whole run. Filled if the scenario gives interruptions of spot machines.
  std::optional<SpotCosts> spot = {};
};

/// The workload of the time to accuracy at scale.
struct ScaleSetting {
  std::string workload;    ///< empty: the learning network, with relative steps only
  std::int64_t batch = 0;  ///< samples of all workers per step
  std::int64_t seeds = 1;
  std::optional<estimate::KnownSteps> known;
  std::optional<Statement> why_not;  ///< reason why the steps are unknown
  estimate::Charges charges;
};

/// A step of a run with its spans.
struct TracedStep {
  std::int64_t number = 0;  ///< number of the step; the first step of training is 1
  bool cold = false;        ///< true: on new connections
  double begin = 0;         ///< simulated seconds since the start of training
  std::shared_ptr<const step::Timeline> timeline;
};

/// Results of a run in which the order of events determines learning: records of its protocol and its simulation, and
/// figures derived from both.
struct EventDrivenResult {
  step::Participation participation;
  step::EventLog log;
  std::vector<std::string> hosts;  ///< hosts of the nodes: workers, then the aggregator
  std::size_t workers = 0;
  /// "stopped": the reason why failures ended the run early; no participant was left, or too little was achieved.
  /// Nothing: the run was completed.
  std::optional<Statement> stopped = {};
  /// Number of learning operations: computed for this run, and reused from another run.
  std::int64_t learned = 0, found = 0;

  double wasted_seconds() const;  ///< seconds of computing whose result did not enter a model, over all nodes
  double wasted_bytes() const;    ///< bytes of messages that did not enter a model, or never arrived
  double lost_work() const;       ///< seconds of computing since checkpoints from which participants resumed
  std::int64_t restored() const;  ///< number of times that a participant resumed from a checkpoint
  std::int64_t outages() const;   ///< number of outages of hosts
  double bytes_sent() const;      ///< bytes sent by all nodes: the sum of the next two members
  double bytes_received() const;
  double bytes_lost() const;
  double taking_part() const;      ///< mean number of workers in a round, or working at the same time
  double rounds_per_hour() const;  ///< rounds, or model updates, per simulated hour
  // Returns the seconds of computing over all workers.
  double busy_seconds() const;
  double idle_seconds() const;  ///< seconds neither computing nor down, over all workers
  double down_seconds() const;

  /// The record of a worker over the whole run.
  struct Worker {
    std::int64_t used = 0;          ///< number of contributions used in a model
    std::int64_t late = 0;          ///< number of late contributions, as far as recorded
    std::int64_t failed = 0;        ///< number of failed contributions, as far as recorded
    double busy = 0, down = 0;      ///< seconds
    double sent = 0, received = 0;  ///< bytes
  };
  std::vector<Worker> per_worker() const;
};

/// Interval of nine measurements in ten, if similar predictions were compared with measurements (estimate/bands.hpp).
/// Excludes differences between days on a shared machine or in a cloud.
struct StepBand {
  double low = 0, high = 0;               ///< seconds of a step at the ends of the interval
  std::vector<estimate::TimePart> parts;  ///< parts of a mean step (compute, exposed communication) by error category
};

/// The statistic that a layer of the timed network sends, if layers choose.
struct LayerStatistic {
  std::string layer, statistic;
};

/// The throughput of a run, and the utilisation of its devices.
struct Throughput {
  double samples = 0;            ///< samples of all workers per second
  std::optional<double> tokens;  ///< tokens per second; nothing if samples are not sequences
  /// Model flops utilisation (PaLM, arXiv:2204.02311, appendix B): flops that the network needs, without recomputation,
  /// ÷ the devices' peak in the timed precision.
  std::optional<double> model_flops_utilisation;
  /// Step time of a lone worker without communication ÷ step time of this run; filled only if nothing is learned.
  std::optional<double> scaling_efficiency;
  /// model flops utilisation without attention products that a mask leaves out; nothing if there are none
  std::optional<double> masked_flops_utilisation = {};
  /// Reason for a utilisation above one; nothing if it is at most one.
  std::optional<Statement> above_peak = {};
  /// Reason for a scaling efficiency above one; nothing if it is at most one.
  std::optional<Statement> above_linear = {};
};

/// All results of one run. summarise() and study/results/ compute the members; reports only print them.
struct RunResult {
  spec::RunSpec spec;
  std::int64_t steps = 0;
  std::int64_t steps_per_epoch = 0;
  std::size_t workers = 0;  ///< number of timed devices, or of participants; with pooled data, the devices of one
                            ///< worker
  double final_accuracy = 0;
  double best_accuracy = 0;
  double final_auc = 0;

  bool target_reached = false;
  std::int64_t target_step = 0;  ///< valid if the target was reached
  double target_seconds = 0;     ///< valid if the target was reached

  // Means over the steps of the run; NaN without steps (the target was met before training).
  double step_seconds = 0;
  double compute_seconds = 0;
  double exposed_seconds = 0;
  double first_step_seconds = 0;  ///< seconds of the first step
  double slowest_step_seconds =
      std::numeric_limits<double>::quiet_NaN();  ///< seconds of the longest step; unknown if event-driven
  /// Times that 95 % and 99 % of the steps do not exceed; NaN for event-driven runs.
  double step_seconds_p95 = std::numeric_limits<double>::quiet_NaN();
  double step_seconds_p99 = std::numeric_limits<double>::quiet_NaN();
  /// For runs without a barrier between steps: seconds until all workers had ended the first, the second … step. The
  /// list ends when every further step takes step_seconds. Empty for other runs.
  std::vector<double> first_steps;
  double bytes_up_per_worker = 0;    ///< bytes sent by a worker per step, mean over participating workers
  double bytes_down_per_worker = 0;  ///< bytes received by a worker per step, mean over participating workers
  double total_bytes = 0;            ///< bytes sent by all nodes over the whole run
  double total_seconds = 0;

  std::vector<step::Bound>
      bounds;                ///< critical path by resource, longest first; seconds are means per step of the whole run
  step::NetworkUse network;  ///< use of the network
  std::vector<step::EpochRanks> ranks;
  std::vector<CurvePoint> curve;
  std::optional<Divergence> divergence;                ///< filled if training diverged
  std::vector<Statement> notes;                        ///< assumptions about this run only
  estimate::MemoryUse memory;                          ///< memory of one worker with the mean batch
  std::vector<estimate::MemoryMoment> memory_moments;  ///< memory over a step
  double device_memory = 0;                            ///< bytes, least among workers; 0: unknown
  std::optional<ScaleResult> at_scale;                 ///< filled if the result has a scale setting
  std::vector<double> busy_seconds;                    ///< computing per node, mean per step
  std::optional<RunCosts> costs;                       ///< filled if the scenario asks for costs
  std::vector<TracedStep> traced;                      ///< requested steps of the run with timelines, in order
  double compression_seconds = 0;          ///< part of compute_seconds that compression takes, which a plain step lacks
  double waiting_seconds = 0;              ///< part of exposed_seconds spent waiting for others to issue a collective
  std::vector<LayerStatistic> statistics;  ///< statistics of layers, input first; empty if layers do not choose
  std::optional<EventDrivenResult> event_driven;  ///< filled for event-driven runs, whose steps are model updates
  std::optional<ShiftEvaluation> evaluation;      ///< filled for event-driven runs if the scenario asks for it
  std::optional<StepBand> step_band;              ///< nothing if the run took no step

  /// Returns the passes over the training data at a point of the curve; NaN if an epoch has no steps.
  double epochs_at(const CurvePoint& point) const;
  /// Returns when the run reached the target, and the previous evaluation; nothing if the target was not reached.
  std::optional<estimate::Arrival> arrival() const;
  /// Returns the band of `steps` steps as factors on their time; nothing if the run has no band.
  std::optional<estimate::Band> factors() const;
  /// Information that the run's messages reveal (docs/leak.md); nothing if nothing was learned.
  std::optional<step::Leak> leak;
  /// True: compression lost information during learning. Nothing without compression, or for an event-driven run.
  std::optional<bool> is_lossy;
  /// Number of layers of the timed network whose ranks were at the limit of the learning network; they are timed with
  /// that limit.
  std::int64_t censored_layers = 0;
  std::optional<Throughput> throughput;  ///< throughput of the timed network; nothing for event-driven runs

  /// Arrival at the target by seed; nothing for a seed that did not reach it. Steps of later seeds are assumed to take
  /// as long as those of the first. Event-driven runs have only the first seed.
  std::vector<std::optional<estimate::Arrival>> arrivals;
  std::vector<double> best_accuracies;         ///< one per seed; empty if nothing was learned
  std::vector<double> final_accuracies;        ///< one per seed; empty if nothing was learned
  std::vector<OverSeeds> accuracy_over_seeds;  ///< one per curve point common to all seeds; empty with one seed
  bool is_baseline = false;                    ///< true: the run is a reference for other algorithms
  bool exact = false;                          ///< true: the run learns the same as every exact run, up to rounding
  double seed_scatter = estimate::seed_scatter("unknown");  ///< scatter over seeds, measured for runs of this kind
};

struct Result : ReportHead {
  std::uint64_t seed = 0;
  std::uint64_t hash = 0;
  std::string learned_on;  ///< "MLP 784-256-10 (203,530 parameters), batch 32 per worker"
  std::string timed_as;    ///< equal to learned_on, or the workload with its batch
  bool timed_as_other = false;
  double target_accuracy = 0;
  std::vector<std::string> layer_names;  ///< names of the learned network's matrix layers, for the ranks
  bool timing_only = false;              ///< true: nothing was learned, and accuracies and losses are NaN
  bool stand_in = false;                 ///< true: nothing learns; the steps were recorded on a stand-in network
  std::vector<RunResult> runs;

  std::optional<Statement> rate_as_tcp;                           ///< present if adapters are given by rate alone
  std::optional<ScaleSetting> scale;                              ///< filled with a timed workload, or several seeds
  std::vector<std::int64_t> trace_steps;                          ///< numbers of the steps with timelines, from 1
  spec::AskedMetric asked_metric = spec::AskedMetric::automatic;  ///< metric requested by the scenario
  double purchase = 0;                                            ///< one-time purchases, in `currency`
  std::string currency;                   ///< currency of costs; empty if the scenario does not request costs
  std::optional<double> lines_per_month;  ///< rent of lines per month, in `currency`

  double learning_wall_seconds = 0;  ///< wall-clock seconds of the program; differ between executions
  double timing_wall_seconds = 0;
};

/// Combines the results of learning and of timing. `timings` has one entry per trajectory.distinct_steps, each with at
/// least `workers` nodes. `first`, if given, is the timing of the first step. `stand_for`, if not empty, gives per
/// timing the number of steps that the parts of its time represent, because some timings have no parts. Throws
/// std::logic_error if the arguments do not fit together.
RunResult summarise(const spec::RunSpec& spec, const step::Trajectory& trajectory,
                    const std::vector<step::StepTiming>& timings, std::size_t workers, double target_accuracy,
                    const std::optional<step::StepTiming>& first = {}, const std::vector<double>& stand_for = {});

/// The records of an event-driven run.
struct EventDrivenRun {
  EventDrivenResult event_driven;
  step::NetworkUse network;  ///< network use; bytes are those of the whole run, not of a step
  std::vector<CurvePoint> curve;
  std::int64_t steps_per_epoch = 0;
  std::optional<ShiftEvaluation> evaluation = {};  ///< filled if the scenario requests it
  std::optional<step::Leak> leak = {};             ///< leak with dates; nothing if nothing was learned
};

/// Summarises an event-driven run, whose steps are model updates.
RunResult summarise(const spec::RunSpec& spec, EventDrivenRun run, double target_accuracy);

}  // namespace dadsim::report
