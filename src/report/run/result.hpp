#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimate/bands.hpp"
#include "estimate/comparison.hpp"
#include "estimate/convergence.hpp"
#include "estimate/efficiency.hpp"
#include "estimate/memory.hpp"
#include "report/run/shift_evaluation.hpp"
#include "report/words/report_head.hpp"
#include "report/words/statement.hpp"
#include "spec/metric_specification.hpp"
#include "spec/specification.hpp"
#include "step/event_log.hpp"
#include "step/participation.hpp"
#include "step/timeline.hpp"
#include "step/timing.hpp"
#include "step/trajectory.hpp"

namespace dadsim::report {

/// A point of a learning curve with the simulated time at which it was reached.
struct CurvePoint {
  std::int64_t step = 0;
  double seconds = 0;  ///< simulated, from the start of training; evaluation is not charged
  double loss = 0;
  double accuracy = 0;
  double auc = 0;
  double bytes = 0;  ///< sent by all nodes, from the start of training
  /// Of event-driven runs: passes over the training data that participants had trained with. Of others they follow from
  /// the steps.
  std::optional<double> epochs = {};
  std::optional<step::SitesEvaluation> sites = {};  ///< where sites have weights of their own
};

/// Steps to one of further targets.
struct ScaleAtTarget {
  double target = 0;  ///< accuracy, 0…1
  estimate::StepsToTarget steps_to_target;
  estimate::RelativeSteps relative;
};

/// Where relative steps come from a scale study and not from the network that learned.
struct FromLadder {
  std::string study;                                ///< name of its scenario
  std::size_t rungs = 0;                            ///< that the fit rests on
  bool trend = false;                               ///< whether it shows one
  double decades_beyond = 0;                        ///< from its largest network to what is timed
  std::optional<estimate::Estimate> measured = {};  ///< on the network that learned
};

/// A run's part of the time to accuracy at scale.
struct ScaleResult {
  estimate::StepsToTarget steps_to_target;  ///< on the network that learned, by seed
  estimate::RelativeSteps relative;
  std::optional<estimate::Estimate> time;   ///< seconds; none unless both steps and relative steps are known
  std::vector<ScaleAtTarget> further = {};  ///< in the order of the scenario
  /// The time with the errors of a step as well: what the interval of the relative steps (95 %, in the place of one of
  /// 90 %) and the band of a step each allow, as factors, their logarithms added in squares.
  std::optional<estimate::Estimate> time_band = {};
  std::optional<FromLadder> ladder = {};  ///< where the scenario names one, and it says something of this run

  /// The least and the greatest of the relative steps over all targets; nothing unless at least two are known.
  std::optional<std::pair<double, double>> range_over_targets() const;
};

/// A loss that grew beyond all bounds.
struct Divergence {
  std::int64_t step = 0;  ///< from which on it is no finite number; the last one where it is a number still
  double before = 0;      ///< loss of the untrained network
  double loss = 0;        ///< at the end
};

/// What a stretch of training costs. What is not known is left out, never zero.
struct Costs {
  std::optional<double> money = {};   ///< in the scenario's currency
  std::optional<double> joules = {};  ///< of devices, and of the network where the scenario says what that takes
  std::optional<double> carbon = {};  ///< grams of CO2 equivalent
};

/// What a stretch of training is to be expected to take on machines that may be taken away.
struct SpotCosts {
  double seconds = 0;           ///< with what is done again, checkpoints and restarts
  double slowdown = 1;          ///< of it ÷ the time without interruptions
  double interruptions = 0;     ///< of all machines together, in that time
  double checkpoint_every = 0;  ///< seconds
  Costs costs = {};
};

/// The costs of a run.
struct RunCosts {
  Costs whole;
  std::optional<Costs> to_target;  ///< of the learned steps; none if the target was not reached
  std::optional<Costs> at_scale;   ///< of the steps that the workload needs; none where they are not known
  Costs per_step;
  std::optional<double> per_month = {};  ///< money while it goes on all the time
  /// Of the steps that the workload needs where those are known, else until the target, else of the whole run; where
  /// the scenario says on what terms machines are taken away.
  std::optional<SpotCosts> spot = {};
};

/// What the time to accuracy at scale is of.
struct ScaleSetting {
  std::string workload;    ///< empty: the network that learned, of which only the relative steps are told
  std::int64_t batch = 0;  ///< samples of all workers per step
  std::int64_t seeds = 1;
  std::optional<estimate::KnownSteps> known;
  std::optional<Statement> why_not;  ///< where no steps are known
  estimate::Charges charges;
};

/// A step of a run with what happened in it.
struct TracedStep {
  std::int64_t number = 0;  ///< the first step of training is 1
  bool cold = false;        ///< on connections that were new
  double begin = 0;         ///< seconds, simulated, from the start of training
  std::shared_ptr<const step::Timeline> timeline;
};

/// What there is to say of a run whose order of events decides what is learned: what its protocol and its simulation
/// have recorded, and what follows from both.
struct EventDrivenResult {
  step::Participation participation;
  step::EventLog log;
  std::vector<std::string> hosts;  ///< per node: workers, then the aggregator
  std::size_t workers = 0;
  /// Where it ended before its end, since nobody came any more, or nothing was achieved for too long, because of what
  /// fails: "stopped". None: it came to its end.
  std::optional<Statement> stopped = {};
  /// Operations of learning: worked out for this run, and found because another run had needed the same.
  std::int64_t learned = 0, found = 0;

  double wasted_seconds() const;  ///< computing whose result went into no model, all nodes together
  double wasted_bytes() const;    ///< of messages whose content went into no model, or that never arrived
  double lost_work() const;       ///< seconds of computing since checkpoints that a participant went on from
  std::int64_t restored() const;  ///< times that one did
  std::int64_t outages() const;   ///< of hosts
  double bytes_sent() const;      ///< by all nodes: the sum of the next two
  double bytes_received() const;
  double bytes_lost() const;
  double taking_part() const;      ///< workers in a round, or at work at the same time; a mean
  double rounds_per_hour() const;  ///< or updates of the model
  // All workers together, seconds.
  double busy_seconds() const;
  double idle_seconds() const;  ///< neither computing nor down
  double down_seconds() const;

  /// What became of a worker in the whole run.
  struct Worker {
    std::int64_t used = 0;          ///< times that its contribution went into a model
    std::int64_t late = 0;          ///< as far as the parts of the participation go
    std::int64_t failed = 0;        ///< the same
    double busy = 0, down = 0;      ///< seconds
    double sent = 0, received = 0;  ///< bytes
  };
  std::vector<Worker> per_worker() const;
};

/// Between which times nine of ten measurements lie, as far as predictions like it were held against measurements
/// (estimate/bands.hpp). Nothing of days that differ on a shared machine or in a cloud is in it.
struct StepBand {
  double low = 0, high = 0;               ///< seconds of a step
  std::vector<estimate::TimePart> parts;  ///< of a mean step: computing, and what is not hidden by it, by what errors
                                          ///< go by
};

/// What a layer of the network that is timed hands over, where layers choose.
struct LayerStatistic {
  std::string layer, statistic;
};

/// What a run gets done in a second, and how well its devices are used.
struct Throughput {
  double samples = 0;            ///< of all workers, per second
  std::optional<double> tokens;  ///< per second; none where samples are no sequences
  /// Model flops utilisation (PaLM, arXiv:2204.02311, appendix B): flops that the network needs, without what is
  /// computed again, ÷ what the devices could do at their peak in the precision that is timed.
  std::optional<double> model_flops_utilisation;
  /// A step of one worker alone, which shares nothing ÷ a step of this run; only where nothing is learned.
  std::optional<double> scaling_efficiency;
  /// model_flops_utilisation without the products of attention that a mask leaves out; none where none are.
  std::optional<double> masked_flops_utilisation = {};
  /// Why the utilisation is above one; none where it is not.
  std::optional<Statement> above_peak = {};
  /// Why the scaling efficiency is above one; none where it is not.
  std::optional<Statement> above_linear = {};
};

/// Everything that is reported of one run. Computed by summarise() and in study/results/: the reports only print it.
struct RunResult {
  spec::RunSpec spec;
  std::int64_t steps = 0;
  std::int64_t steps_per_epoch = 0;
  std::size_t workers = 0;  ///< that were timed: 1 if pooled
  double final_accuracy = 0;
  double best_accuracy = 0;
  double final_auc = 0;

  bool target_reached = false;
  std::int64_t target_step = 0;  ///< meaningful if reached
  double target_seconds = 0;     ///< meaningful if reached

  // Means over the steps of the run; not a number if it had none (the target was met before training).
  double step_seconds = 0;
  double compute_seconds = 0;
  double exposed_seconds = 0;
  double first_step_seconds = 0;                                           ///< of the first step alone, not a mean
  double slowest_step_seconds = std::numeric_limits<double>::quiet_NaN();  ///< of the longest; unknown if event-driven
  /// For runs without a barrier between steps, the seconds until all workers had ended the first, the second … step,
  /// until every further one takes step_seconds. Otherwise empty.
  std::vector<double> first_steps;
  double bytes_up_per_worker = 0;    ///< sent by a worker per step, mean over workers that take part
  double bytes_down_per_worker = 0;  ///< received by a worker per step, mean over workers that take part
  double total_bytes = 0;            ///< sent by all nodes over the whole run
  double total_seconds = 0;

  std::vector<step::Bound>
      bounds;                ///< critical path by resource, longest first; seconds are means per step of the whole run
  step::NetworkUse network;  ///< how the network was simulated
  std::vector<step::EpochRanks> ranks;
  std::vector<CurvePoint> curve;
  std::optional<Divergence> divergence;    ///< where it has learned, and diverged
  std::vector<Statement> notes;            ///< assumptions that concern this run alone
  estimate::MemoryUse memory;              ///< of one worker, with the mean batch
  double device_memory = 0;                ///< of the worker that has the least; 0: unknown
  std::optional<ScaleResult> at_scale;     ///< where the result has a setting for it
  std::vector<double> busy_seconds;        ///< per node: computing, mean per step
  std::optional<RunCosts> costs;           ///< where the scenario asks for them
  std::vector<TracedStep> traced;          ///< those asked for that the run has, in order
  double compression_seconds = 0;          ///< of compute_seconds: what the algorithm computes beside a plain step
  double waiting_seconds = 0;              ///< of exposed_seconds: until others have issued what is waited for
  std::vector<LayerStatistic> statistics;  ///< input first; empty where layers do not choose
  std::optional<EventDrivenResult> event_driven;  ///< of an event-driven run; its steps are updates of the model
  std::optional<ShiftEvaluation> evaluation;      ///< of an event-driven run, where the scenario asks for it
  std::optional<StepBand> step_band;              ///< none where no step was taken

  /// Passes over the training data at a point of the curve; not a number where an epoch has no steps.
  double epochs_at(const CurvePoint& point) const;
  /// When it reached the target, and the evaluation before that; nothing where it did not.
  std::optional<estimate::Arrival> arrival() const;
  /// Factors on any time of so many steps; none without a band.
  std::optional<estimate::Band> factors() const;
  /// What its messages reveal (docs/leak.md); none: nothing was learned.
  std::optional<step::Leak> leak;
  /// Whether its compression left anything out while it learned; none: it has none, or the run is event-driven.
  std::optional<bool> is_lossy;
  /// Layers of the network that is timed whose ranks were at the limit of the network that learned: timed with the cap.
  std::int64_t censored_layers = 0;
  std::optional<Throughput> throughput;  ///< of the network that is timed; none of event-driven runs

  /// When it reached the target, by seed; nothing where a seed did not. Those after the first are timed by the first:
  /// their steps are taken to last as long. Event-driven runs have the first alone.
  std::vector<std::optional<estimate::Arrival>> arrivals;
  std::vector<double> best_accuracies;                      ///< by seed, of the same; empty where nothing was learned
  std::vector<double> final_accuracies;                     ///< likewise
  bool is_baseline = false;                                 ///< its algorithm is the one that others are compared with
  bool exact = false;                                       ///< it learns what every exact run does, up to rounding
  double seed_scatter = estimate::seed_scatter("unknown");  ///< of its kind
};

struct Result : ReportHead {
  std::uint64_t seed = 0;
  std::uint64_t hash = 0;
  std::string learned_on;  ///< "MLP 784-256-10 (203,530 parameters), batch 32 per worker"
  std::string timed_as;    ///< the same words as learned_on, or the workload with its batch
  bool timed_as_other = false;
  double target_accuracy = 0;
  std::vector<std::string> layer_names;  ///< matrix layers of the learned network, for the ranks
  bool timing_only = false;              ///< nothing was learned: accuracies and losses are no numbers
  bool stand_in = false;                 ///< nothing learns: the steps were recorded on a network of no interest
  std::vector<RunResult> runs;

  std::optional<Statement> rate_as_tcp;                           ///< adapters are given by a rate alone
  std::optional<ScaleSetting> scale;                              ///< with a workload to time, or several seeds
  std::vector<std::int64_t> trace_steps;                          ///< of which timelines were asked for, from 1
  spec::AskedMetric asked_metric = spec::AskedMetric::automatic;  ///< what runs are to be compared by
  double purchase = 0;                                            ///< what is bought for it, in the currency
  std::string currency;                   ///< of costs; empty where the scenario does not ask for them
  std::optional<double> lines_per_month;  ///< rent of the lines that have a price, in the currency

  double learning_wall_seconds = 0;  ///< wall clock: differs from run to run
  double timing_wall_seconds = 0;
};

/// Puts the learned half and the timed half together. `timings` has one entry per trajectory.distinct_steps, each with
/// at least `workers` nodes; `first`, if given, is what the very first step takes. `stand_for`, if not empty, says per
/// timing how many steps the parts of its time stand for, where some have no parts. Throws std::logic_error where the
/// halves do not fit.
RunResult summarise(const spec::RunSpec& spec, const step::Trajectory& trajectory,
                    const std::vector<step::StepTiming>& timings, std::size_t workers, double target_accuracy,
                    const std::optional<step::StepTiming>& first = {}, const std::vector<double>& stand_for = {});

/// What an event-driven run has left behind.
struct EventDrivenRun {
  EventDrivenResult event_driven;
  step::NetworkUse network;  ///< with the bytes of the whole run in the place of those of a step
  std::vector<CurvePoint> curve;
  std::int64_t steps_per_epoch = 0;
  std::optional<ShiftEvaluation> evaluation = {};  ///< where the scenario asks for it
  std::optional<step::Leak> leak = {};             ///< with dates; none: nothing was learned
};

/// The same of an event-driven run, whose steps are updates of the model.
RunResult summarise(const spec::RunSpec& spec, EventDrivenRun run, double target_accuracy);

}  // namespace dadsim::report
