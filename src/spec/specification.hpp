#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "spec/adapters.hpp"
#include "spec/data_specification.hpp"
#include "spec/device_specification.hpp"
#include "spec/failure_specification.hpp"
#include "spec/layer_shape.hpp"
#include "spec/model_specification.hpp"
#include "spec/names.hpp"
#include "spec/parallelism.hpp"
#include "spec/parameter.hpp"
#include "spec/platform_specification.hpp"
#include "spec/precision.hpp"

// What is to be learned and timed, complete and checked: the vocabulary that the scenario reader fills in and the other
// folders read. Every default has been resolved; every path is absolute.

namespace dadsim::spec {

struct OptimizerSpec {
  enum class Kind { sgd, adam, adamw, lamb, lars };
  Kind kind = Kind::adam;
  double learning_rate = 1e-3;
  double momentum = 0;                                ///< sgd, lars
  bool nesterov = false;                              ///< sgd
  double weight_decay = 0;                            ///< sgd, adam, lars: added to the gradient (L2); adamw: decoupled
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< adam, adamw, lamb
  double trust = 0.001;                               ///< lars: η of its paper, the trust in a layer's step
  double clip_norm = 0;  ///< the gradient is scaled down to this norm where its own is larger; 0: never
};
constexpr auto names_of(OptimizerSpec::Kind) {
  using enum OptimizerSpec::Kind;
  return std::to_array<Name<OptimizerSpec::Kind>>(
      {{sgd, "sgd"}, {adam, "adam"}, {adamw, "adamw"}, {lamb, "lamb"}, {lars, "lars"}});
}

/// Factor on the learning rate over time.
struct ScheduleSpec {
  enum class Kind { constant, steps, cosine };
  Kind kind = Kind::constant;
  double warm_up_epochs = 0;             ///< linear from 0, before any of the kinds
  std::vector<std::int64_t> milestones;  ///< steps: epochs after which the rate is multiplied by `factor`
  double factor = 0.1;                   ///< steps
  double final_factor = 0;               ///< cosine: what it ends at, as a share of the learning rate
};
constexpr auto names_of(ScheduleSpec::Kind) {
  using enum ScheduleSpec::Kind;
  return std::to_array<Name<ScheduleSpec::Kind>>({{constant, "constant"}, {steps, "steps"}, {cosine, "cosine"}});
}

struct TrainingSpec {
  enum class Batches { proportional, equal, poisson };
  enum class Stop { budget, target };
  std::int64_t batch = 32;                  ///< rows per worker and step (on average over workers if proportional)
  Batches batches = Batches::proportional;  ///< proportional: a site with twice the samples takes twice the rows;
                                            ///< poisson: the same on average, every sample by chance for itself
  bool in_order = false;                    ///< samples are taken in the order of the data, in every pass
  double epochs = 10;                       ///< budget
  double target_accuracy = 0.95;            ///< on held-back data, 0…1
  /// Further targets, each told apart from the others: at how many of them relative steps are asked for.
  std::vector<double> further_targets = {};
  Stop stop = Stop::budget;         ///< target: end a run at the first evaluation that reaches the target
  std::int64_t evaluate_every = 0;  ///< steps; 0: once per epoch
  double label_smoothing = 0;  ///< share of every label that is spread over all classes; of the training loss alone
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  std::int64_t seeds = 1;   ///< learned with: the scenario's, the next, …; the first is timed
  bool exact_once = false;  ///< runs of exact algorithms, equal up to rounding, are learned as one
  /// What messages reveal is measured in every so many steps; 0: so seldom that it costs little.
  std::int64_t leak_every = 0;

  /// All that are asked for, `target_accuracy` first.
  std::vector<double> targets() const;
  /// The greatest of them: where training that stops at its target ends.
  double last_target() const;
};
constexpr auto names_of(TrainingSpec::Batches) {
  using enum TrainingSpec::Batches;
  return std::to_array<Name<TrainingSpec::Batches>>(
      {{proportional, "proportional"}, {equal, "equal"}, {poisson, "poisson"}});
}
constexpr auto names_of(TrainingSpec::Stop) {
  using enum TrainingSpec::Stop;
  return std::to_array<Name<TrainingSpec::Stop>>({{budget, "budget"}, {target, "target"}});
}

enum class ExchangeMode { aggregator, peer };
constexpr auto names_of(ExchangeMode) {
  using enum ExchangeMode;
  return std::to_array<Name<ExchangeMode>>({{aggregator, "aggregator"}, {peer, "peer"}});
}

/// What is done to the matrices of a run before they are sent.
struct CompressSpec {
  std::string method = "none";      ///< of the compressors' registry
  ParameterValues parameters = {};  ///< every parameter of the method
  bool memory = false;              ///< sites keep what was lost of gradients, and add it to the next
  /// What is compressed as one, and what is sent in one message: the gradient of each layer; each of its tensors, and
  /// those of all layers; those of all layers.
  enum class Scope : std::uint8_t { layer, tensor, model };
  Scope scope = Scope::layer;
  bool operator==(const CompressSpec&) const = default;
};
constexpr auto names_of(CompressSpec::Scope) {
  using enum CompressSpec::Scope;
  return std::to_array<Name<CompressSpec::Scope>>({{layer, "layer"}, {tensor, "tensor"}, {model, "model"}});
}

/// How the gradients of some layers are shared, in a run of an algorithm that lets layers differ.
struct ShareRule {
  std::string layers;      ///< name of a layer of the network that learns, or a pattern in which * stands for anything
  std::string statistic;   ///< what sites hand over of such a layer
  std::int64_t every = 1;  ///< the layer is shared and updated every so many steps, with what has come together
  bool operator==(const ShareRule&) const = default;
};

/// What DistributedDataParallel puts into a bucket: bucket_cap_mb = 25.
inline constexpr double kBucketBytes = 25.0 * 1024.0 * 1024.0;

/// What DistributedDataParallel puts into the first bucket of a step, so that sending starts early: 1 MiB.
inline constexpr double kFirstBucketBytes = 1024.0 * 1024.0;

/// What sites are worth in what a run minimises: Σ p_s F_s, F_s the mean loss over the samples of site s.
enum class SiteWeights : std::uint8_t {
  published,  ///< as the method has it where nobody says otherwise (methods::Objective)
  samples,    ///< p_s is the site's share of all samples
  uniform,    ///< all sites alike
};
constexpr auto names_of(SiteWeights) {
  using enum SiteWeights;
  return std::to_array<Name<SiteWeights>>({{published, "published"}, {samples, "samples"}, {uniform, "uniform"}});
}

/// What goes wrong while a run is simulated, where that is not what the scenario says for all of them.
struct ConditionsSpec {
  /// As the scenario has them, or none.
  enum class Of : std::uint8_t { scenario, none };
  Of failures = Of::scenario;           ///< <failures>, and the state profiles of a platform file
  Of availability = Of::scenario;       ///< <availability>
  Of jitter = Of::scenario;             ///< <jitter> of <network>
  std::optional<FailureSpec> own = {};  ///< in the place of the scenario's failures and availability
  bool operator==(const ConditionsSpec&) const = default;
  /// What can go wrong in the run, of what the scenario says for all.
  FailureSpec failures_of(const FailureSpec& of_scenario) const;
  /// Whether the state profiles of a platform file act.
  bool has_profiles() const { return failures == Of::scenario && !own; }
};
constexpr auto names_of(ConditionsSpec::Of) {
  using enum ConditionsSpec::Of;
  return std::to_array<Name<ConditionsSpec::Of>>({{scenario, "scenario"}, {none, "none"}});
}

/// What a run that takes steps does about sites that are away.
struct AbsenceSpec {
  enum class Does : std::uint8_t {
    wait,     ///< until all are there
    without,  ///< the step is taken by those that are there
    retry,    ///< wait for so long, then without
    restart,  ///< wait, and go on from the last checkpoint
  };
  Does does = Does::wait;
  double patience = 10;  ///< seconds; retry
  /// What the parts of those that are there are weighed with.
  enum class Estimate : std::uint8_t {
    present,   ///< so that they add up to one: the mean over those that are there
    unbiased,  ///< by one over the chance that the site is there (Horvitz and Thompson, JASA 47, 1952)
  };
  Estimate estimate = Estimate::present;
  bool operator==(const AbsenceSpec&) const = default;
  bool goes_without() const { return does == Does::without || does == Does::retry; }
};
constexpr auto names_of(AbsenceSpec::Does) {
  using enum AbsenceSpec::Does;
  return std::to_array<Name<AbsenceSpec::Does>>(
      {{wait, "wait"}, {without, "without"}, {retry, "retry"}, {restart, "restart"}});
}
constexpr auto names_of(AbsenceSpec::Estimate) {
  using enum AbsenceSpec::Estimate;
  return std::to_array<Name<AbsenceSpec::Estimate>>({{present, "present"}, {unbiased, "unbiased"}});
}

struct RunSpec {
  std::string algorithm;
  std::string label;  ///< unique within the scenario
  ExchangeMode exchange = ExchangeMode::aggregator;
  ParameterValues parameters;  ///< every parameter of the algorithm
  /// How its collectives are carried out: names of the collectives' registry, or "auto".
  std::string all_reduce = "auto";
  std::string all_gather = "auto";
  std::string reduce_scatter = "auto";
  /// Sums issued one after the other are carried out as one until they hold this many bytes; 0: as the algorithm issues
  /// them.
  double bucket_bytes = 0;
  bool communicates =
      true;  ///< false: one of the ends that algorithms are measured against; the way of exchanging means nothing
  /// With buckets: the first of a step leaves once it holds this much, if that is less.
  double first_bucket_bytes = kFirstBucketBytes;
  CompressSpec compress = {};
  bool decentralised = false;  ///< sites exchange with their neighbours in a graph
  /// The order of events decides what is learned: it is simulated on its cluster, and learned as it was simulated.
  bool event_driven = false;
  std::vector<ShareRule> share = {};      ///< per layer, the first that fits decides; none: the algorithm's default
  std::string average_deltas_above = {};  ///< the layer above whose Δ are averaged over sites; empty: none
  std::vector<std::string> files = {};  ///< names of parameters that are paths: what lies there is part of their value
  SiteWeights weights = SiteWeights::published;
  ConditionsSpec conditions = {};
  AbsenceSpec absence = {};
};

/// What an optimizer keeps its moments in.
enum class Moments : std::uint8_t {
  automatic,  ///< fp32, or without fp32 masters as wide as the weights
  fp32,
  weights,  ///< as wide as the weights
  bits8,    ///< 8 bit with an fp32 scale for each 256 (Dettmers et al., arXiv:2110.02861; bitsandbytes)
};
constexpr auto names_of(Moments) {
  using enum Moments;
  return std::to_array<Name<Moments>>({{automatic, "auto"}, {fp32, "fp32"}, {weights, "weights"}, {bits8, "8bit"}});
}

/// How attention is computed.
enum class Attention : std::uint8_t {
  plain,    ///< the scores of all pairs of positions are written, and kept for the backward pass
  flash,    ///< block by block, scores are never written, and computed again in the backward pass (arXiv:2205.14135)
  flash_2,  ///< the same with the kernels of FlashAttention-2
  flash_3,  ///< with those made for Hopper and later, of FlashAttention-3 and cuDNN
};
constexpr bool writes_scores(Attention attention) { return attention == Attention::plain; }
constexpr auto names_of(Attention) {
  using enum Attention;
  return std::to_array<Name<Attention>>(
      {{plain, "plain"}, {flash, "flash"}, {flash_2, "flash-2"}, {flash_3, "flash-3"}});
}

/// What the steps are timed as.
struct TimedAsSpec {
  std::string workload;     ///< of the registry; empty: of a file, or else the network that learns
  std::int64_t batch = 32;  ///< samples per worker and step
  Precision precision = Precision::fp32;
  std::string file;                   ///< of a workload of the user's own; empty: none
  ModelShape own_shape;               ///< what stands in that file
  std::int64_t own_dataset_size = 0;  ///< samples per epoch, as said in that file; 0: not said
  /// The user's own number of steps with gradient sharing, or of epochs; none: published ones where there are some.
  std::optional<double> steps, epochs;
  /// The same as a budget: samples, or tokens of a workload whose samples are sequences.
  std::optional<double> samples, tokens;
  std::string target;                 ///< what is reached after them, in words; may be empty
  std::int64_t evaluation_every = 0;  ///< steps of the workload between evaluations; 0: none is charged
  double evaluation_seconds = 0;      ///< of each
  double start_up = 0;                ///< seconds before the first step
  ParallelismSpec parallelism = {};
  ParameterValues sizes = {};  ///< of the workload: those that were said
  Attention attention = Attention::plain;
  std::int64_t adapters = 0;  ///< rank of those that are learned beside frozen weights; 0: all weights are learned
  Adapted adapted = Adapted::all;
  double input_rate = 0;        ///< samples per second that each worker is fed at most; 0: no limit
  bool wide_gradients = false;  ///< 16 bit: gradients are handed over in fp32 all the same
  bool no_masters = false;      ///< 16 bit: the optimizer works on the weights, not on a copy of them in fp32
  Moments moments = Moments::automatic;
  bool loss_scaling = false;  ///< fp16: gradients are searched for infinities before each update
  Program program = Program::tuned;
  double operator_seconds = 0;  ///< of the host for each kernel of it; 0: as it was measured (spec/programs.csv)

  bool of_other_network() const { return !workload.empty() || !file.empty(); }
};

/// How much the speed of computing scatters. Factors are log-normal with mean 1, drawn from the scenario's seed.
struct JitterSpec {
  double spatial = 0;   ///< standard deviation of the logarithm from worker to worker, the same in all steps
  double temporal = 0;  ///< of the logarithm from step to step, drawn for each worker
  bool operator==(const JitterSpec&) const = default;
};

/// How closely collectives are simulated.
enum class Fidelity : std::uint8_t {
  automatic,  ///< message where that is quick enough, flow otherwise
  message,    ///< every message of every collective: the reference
  flow,       ///< sharing of links worked out once per set of pairs; needs workers in step and an idle, steady network
  closed_form,  ///< latency plus bytes over bandwidth of the worst pair, no sharing: for orientation
};
constexpr auto names_of(Fidelity) {
  using enum Fidelity;
  return std::to_array<Name<Fidelity>>(
      {{automatic, "auto"}, {message, "message"}, {flow, "flow"}, {closed_form, "closed-form"}});
}

/// How the network is simulated.
struct NetworkSpec {
  Fidelity fidelity = Fidelity::automatic;
  std::int64_t message_budget = 500'000;  ///< automatic: messages simulated per run, about 4 µs each
  std::int64_t timed_steps = 0;           ///< steps that differ and are simulated, the others are interpolated; 0: all
  bool rendezvous =
      false;  ///< a message leaves when its receiver has posted and said so (as gloo does): a path latency later
  std::int64_t streams = 1;  ///< connections that a transfer is spread over, on lines whose bandwidth was measured
  /// Bytes that a connection may have under way on such lines. A receiver on Linux may buffer tcp_rmem[2] = 6 MiB, of
  /// which half is its window (tcp_adv_win_scale 1; Documentation/networking/ip-sysctl.rst).
  double window = 3145728;
  JitterSpec jitter;
};

struct Placement {
  std::string host;    ///< name in the platform
  std::string device;  ///< name of a DeviceSpec
  /// Standard deviation of the logarithm of its speed, whose median is what the device says: nodes of one kind differ.
  double speed_spread = 0;
  double speed = 1;  ///< of it, in what the device computes in a second; above 0
};

}  // namespace dadsim::spec
