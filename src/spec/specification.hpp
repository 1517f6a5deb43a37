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

// The learning and timing problem, complete and checked. The scenario reader fills it in, and the other folders read
// it. Defaults are filled in, and paths are absolute.

namespace dadsim::spec {

struct OptimizerSpec {
  enum class Kind { sgd, adam, adamw, lamb, lars, muon };
  /// Factor on Muon's orthogonal step of a matrix with p outputs and q inputs.
  enum class MuonScale {
    tall,      ///< √max(1, p ÷ q)
    spectral,  ///< √(p ÷ q)
    rms        ///< 0.2 √max(p, q)
  };
  /// Coefficients of Muon's five Newton–Schulz iterations: the same in each, or tuned for each.
  enum class NewtonSchulz { fixed, tuned };
  Kind kind = Kind::adam;
  double learning_rate = 1e-3;
  double momentum = 0;      ///< momentum of sgd, lars and muon
  bool nesterov = false;    ///< Nesterov momentum, for sgd and muon
  double weight_decay = 0;  ///< sgd, adam and lars: L2, added to the gradient; others: decoupled
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< adam, adamw, lamb; muon: for parameters updated by Adam
  double trust = 0.001;                               ///< lars: trust coefficient η of the paper
  double clip_norm = 0;                               ///< norm to which larger gradients are scaled; 0: no limit
  MuonScale scale = MuonScale::tall;
  NewtonSchulz coefficients = NewtonSchulz::fixed;
  double adam_rate = 3e-4;  ///< muon: learning rate of parameters that Adam updates
};
constexpr auto names_of(OptimizerSpec::MuonScale) {
  using enum OptimizerSpec::MuonScale;
  return std::to_array<Name<OptimizerSpec::MuonScale>>({{tall, "tall"}, {spectral, "spectral"}, {rms, "rms"}});
}
constexpr auto names_of(OptimizerSpec::NewtonSchulz) {
  using enum OptimizerSpec::NewtonSchulz;
  return std::to_array<Name<OptimizerSpec::NewtonSchulz>>({{fixed, "fixed"}, {tuned, "tuned"}});
}
constexpr auto names_of(OptimizerSpec::Kind) {
  using enum OptimizerSpec::Kind;
  return std::to_array<Name<OptimizerSpec::Kind>>(
      {{sgd, "sgd"}, {adam, "adam"}, {adamw, "adamw"}, {lamb, "lamb"}, {lars, "lars"}, {muon, "muon"}});
}

/// Factor on the learning rate over time.
struct ScheduleSpec {
  enum class Kind { constant, steps, cosine };
  Kind kind = Kind::constant;
  double warm_up_epochs = 0;             ///< epochs of linear warm-up from 0; for all kinds
  std::vector<std::int64_t> milestones;  ///< steps: epochs after which the rate is multiplied by `factor`
  double factor = 0.1;                   ///< steps: factor at each milestone
  double final_factor = 0;               ///< cosine: final factor on the learning rate
};
constexpr auto names_of(ScheduleSpec::Kind) {
  using enum ScheduleSpec::Kind;
  return std::to_array<Name<ScheduleSpec::Kind>>({{constant, "constant"}, {steps, "steps"}, {cosine, "cosine"}});
}

struct TrainingSpec {
  enum class Batches { proportional, equal, poisson };
  enum class Stop { budget, target };
  std::int64_t batch = 32;                  ///< rows per worker and step (mean over workers if proportional)
  Batches batches = Batches::proportional;  ///< proportional: to a site's samples; poisson: each sample is drawn
  bool in_order = false;                    ///< true: every pass takes samples in the order of the data
  double epochs = 10;                       ///< training budget, epochs
  double target_accuracy = 0.95;            ///< target accuracy on held-back data, 0…1
  /// More target accuracies; relative steps are reported for each.
  std::vector<double> further_targets = {};
  Stop stop = Stop::budget;         ///< target: a run ends at the first evaluation with the target accuracy
  std::int64_t evaluate_every = 0;  ///< steps between evaluations; 0: once per epoch
  double label_smoothing = 0;       ///< label smoothing: share of every training label spread over all classes
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  std::int64_t seeds = 1;   ///< number of seeds to learn with, from the scenario's on; the first is timed
  bool exact_once = false;  ///< true: runs of exact algorithms, equal up to rounding, are learned once
  /// Steps between measurements of the information in messages; 0: chosen so that they cost little.
  std::int64_t leak_every = 0;

  /// Returns all targets, `target_accuracy` first.
  std::vector<double> targets() const;
  /// Returns the highest target, at which training with stop="target" ends.
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

/// Compression of a run's matrices before sending.
struct CompressSpec {
  std::string method = "none";      ///< name in the compressors' registry
  ParameterValues parameters = {};  ///< values of every parameter of the method
  bool memory = false;              ///< true: error feedback, sites add the lost part of gradients to the next ones
  /// Unit of compression and of messages: each layer's gradient; each tensor, but all layers in one message; all layers
  /// together.
  enum class Scope : std::uint8_t { layer, tensor, model };
  Scope scope = Scope::layer;
  bool operator==(const CompressSpec&) const = default;
};
constexpr auto names_of(CompressSpec::Scope) {
  using enum CompressSpec::Scope;
  return std::to_array<Name<CompressSpec::Scope>>({{layer, "layer"}, {tensor, "tensor"}, {model, "model"}});
}

/// Rule for sharing some layers' gradients, for an algorithm whose layers may differ.
struct ShareRule {
  std::string layers;      ///< name of a layer of the learning network, in which * matches anything
  std::string statistic;   ///< statistic that sites send for matching layers
  std::int64_t every = 1;  ///< steps between exchanges of the accumulated statistics, with an update of the layer
  bool operator==(const ShareRule&) const = default;
};

/// Bytes of a bucket of DistributedDataParallel: bucket_cap_mb = 25.
inline constexpr double kBucketBytes = 25.0 * 1024.0 * 1024.0;

/// Bytes of the first bucket of a step in DistributedDataParallel: 1 MiB, small so that sending starts early.
inline constexpr double kFirstBucketBytes = 1024.0 * 1024.0;

/// Weights p_s of sites in a run's objective Σ p_s F_s, where F_s is the mean loss over the samples of site s.
enum class SiteWeights : std::uint8_t {
  published,  ///< the method's default (methods::Objective)
  samples,    ///< the site's share of all samples
  uniform,    ///< equal weights for all sites
};
constexpr auto names_of(SiteWeights) {
  using enum SiteWeights;
  return std::to_array<Name<SiteWeights>>({{published, "published"}, {samples, "samples"}, {uniform, "uniform"}});
}

/// Failures, availability and jitter in a run: the scenario's, none, or the run's own.
struct ConditionsSpec {
  /// Source of a condition: the scenario, or none.
  enum class Of : std::uint8_t { scenario, none };
  Of failures = Of::scenario;           ///< <failures>, and state profiles of a platform file
  Of availability = Of::scenario;       ///< <availability>
  Of jitter = Of::scenario;             ///< <jitter> of <network>
  std::optional<FailureSpec> own = {};  ///< conditions that replace the scenario's failures and availability
  bool operator==(const ConditionsSpec&) const = default;
  /// Returns the failures of the run, given the scenario's.
  FailureSpec failures_of(const FailureSpec& of_scenario) const;
  /// Returns whether the state profiles of a platform file apply.
  bool has_profiles() const { return failures == Of::scenario && !own; }
};
constexpr auto names_of(ConditionsSpec::Of) {
  using enum ConditionsSpec::Of;
  return std::to_array<Name<ConditionsSpec::Of>>({{scenario, "scenario"}, {none, "none"}});
}

/// Reaction of a run with steps to absent sites.
struct AbsenceSpec {
  enum class Does : std::uint8_t {
    wait,     ///< wait until all sites are present
    without,  ///< take the step with only the sites present
    retry,    ///< wait for `patience`, then continue with only the sites present
    restart,  ///< wait, then continue from the last checkpoint
  };
  Does does = Does::wait;
  double patience = 10;  ///< seconds; for retry
  /// Weights of the present sites' contributions.
  enum class Estimate : std::uint8_t {
    present,   ///< normalised to a sum of one: the mean over the sites present
    unbiased,  ///< one over the probability of the site's presence (Horvitz and Thompson, JASA 47, 1952)
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
  std::string label;  ///< label, unique within the scenario
  ExchangeMode exchange = ExchangeMode::aggregator;
  ParameterValues parameters;  ///< values of every parameter of the algorithm
  /// Collective algorithms: names of the collectives' registry, or "auto".
  std::string all_reduce = "auto";
  std::string all_gather = "auto";
  std::string reduce_scatter = "auto";
  /// Bytes up to which consecutive sums are merged into one; 0: one message per sum of the algorithm.
  double bucket_bytes = 0;
  bool communicates = true;  ///< false: a reference without exchange, which ignores `exchange`
  /// Bytes of the first bucket of a step, if fewer than `bucket_bytes`.
  double first_bucket_bytes = kFirstBucketBytes;
  CompressSpec compress = {};
  bool decentralised = false;  ///< sites exchange with their neighbours in a graph (gossip)
  /// True: the order of events determines learning. The run is simulated on its cluster first, then learned in the
  /// simulated order.
  bool event_driven = false;
  std::vector<ShareRule> share = {};      ///< rules of sharing; the first rule that matches a layer applies; none: the
                                          ///< algorithm's default
  std::string average_deltas_above = {};  ///< layer whose Δ are averaged over sites; empty: none
  std::vector<std::string> files = {};    ///< parameters that are paths; their files' contents are part of the value
  SiteWeights weights = SiteWeights::published;
  ConditionsSpec conditions = {};
  AbsenceSpec absence = {};
  bool exchange_named = false;  ///< true: the scenario sets `exchange`
};

/// Format of an optimizer's moments.
enum class Moments : std::uint8_t {
  automatic,  ///< fp32; without an fp32 master copy: the format of the weights
  fp32,
  weights,  ///< the format of the weights
  bits8,    ///< 8 bit with an fp32 scale for each 256 numbers (Dettmers et al., arXiv:2110.02861; bitsandbytes)
};
constexpr auto names_of(Moments) {
  using enum Moments;
  return std::to_array<Name<Moments>>({{automatic, "auto"}, {fp32, "fp32"}, {weights, "weights"}, {bits8, "8bit"}});
}

/// Implementation of attention.
enum class Attention : std::uint8_t {
  plain,    ///< plain: scores of all pairs of positions are written, and kept for the backward pass
  flash,    ///< flash: block by block; scores are never written, and recomputed in the backward pass (arXiv:2205.14135)
  flash_2,  ///< flash, with the kernels of FlashAttention-2
  flash_3,  ///< flash, with the kernels of FlashAttention-3 and cuDNN for Hopper and later
};
constexpr bool writes_scores(Attention attention) { return attention == Attention::plain; }
constexpr auto names_of(Attention) {
  using enum Attention;
  return std::to_array<Name<Attention>>(
      {{plain, "plain"}, {flash, "flash"}, {flash_2, "flash-2"}, {flash_3, "flash-3"}});
}

/// Timed network and settings.
struct TimedAsSpec {
  std::string workload;     ///< name of a workload in the registry; empty: the network of `file`, or else the learning
                            ///< network
  std::int64_t batch = 32;  ///< samples per worker and step
  Precision precision = Precision::fp32;
  std::string file;                   ///< file of the user's own workload; empty: none
  ModelShape own_shape;               ///< layers in `file`
  std::int64_t own_dataset_size = 0;  ///< samples per epoch, from `file`; 0: not given
  /// Number of steps with gradient sharing, or of epochs, given by the user; none: published numbers are used, if
  /// available.
  std::optional<double> steps, epochs;
  /// Budget in samples, or in tokens for workloads with sequences; replaces steps or epochs.
  std::optional<double> samples, tokens;
  std::string target;                 ///< description of the result after this training; may be empty
  std::int64_t evaluation_every = 0;  ///< steps between evaluations; 0: evaluations take no time
  double evaluation_seconds = 0;      ///< seconds per evaluation
  double start_up = 0;                ///< seconds before the first step
  ParallelismSpec parallelism = {};
  ParameterValues sizes = {};  ///< workload sizes that the scenario sets
  Attention attention = Attention::plain;
  std::int64_t adapters = 0;  ///< rank of adapters (LoRA) on frozen weights; 0: all weights are learned
  Adapted adapted = Adapted::all;
  double input_rate = 0;        ///< limit of input, samples per second per worker; 0: no limit
  bool wide_gradients = false;  ///< 16 bit: gradients are sent in fp32
  bool no_masters = false;      ///< 16 bit: the optimizer updates the weights directly, without fp32 masters
  Moments moments = Moments::automatic;
  bool loss_scaling = false;  ///< fp16: loss scaling, gradients are checked for infinities before each update
  Program program = Program::typical;
  double operator_seconds = 0;  ///< host seconds per kernel; 0: as measured (spec/programs.csv)

  bool of_other_network() const { return !workload.empty() || !file.empty(); }
};

/// Random variation of computing times. Factors are log-normal with mean 1, drawn with the scenario's seed.
struct JitterSpec {
  double spatial = 0;   ///< between workers, constant over steps: standard deviation of the logarithm
  double temporal = 0;  ///< between steps, drawn for each worker: standard deviation of the logarithm
  bool operator==(const JitterSpec&) const = default;
};

/// Fidelity of simulating collectives.
enum class Fidelity : std::uint8_t {
  automatic,    ///< messages if fast enough, otherwise flow
  message,      ///< every message of every collective, the reference
  flow,         ///< bandwidth sharing computed once per set of pairs; requires synchronous workers and an idle, steady
                ///< network
  closed_form,  ///< latency plus bytes ÷ bandwidth of the worst pair, without sharing: a rough estimate
};
constexpr auto names_of(Fidelity) {
  using enum Fidelity;
  return std::to_array<Name<Fidelity>>(
      {{automatic, "auto"}, {message, "message"}, {flow, "flow"}, {closed_form, "closed-form"}});
}

/// Settings of the network simulation.
struct NetworkSpec {
  Fidelity fidelity = Fidelity::automatic;
  std::int64_t message_budget = 500'000;  ///< automatic: largest number of messages simulated per run, about 4 µs each
  std::int64_t timed_steps = 0;  ///< number of steps simulated if steps differ; others are interpolated; 0: all
  bool rendezvous = false;       ///< true: the sender waits until the receiver has posted and notified it (as in gloo),
                                 ///< which takes one latency
  std::int64_t streams = 1;      ///< connections per transfer, on lines with measured bandwidth
  /// Largest number of bytes in flight per connection, on lines with measured bandwidth. A Linux receiver buffers up to
  /// tcp_rmem[2] = 6 MiB, half of which is its window (tcp_adv_win_scale 1; Documentation/networking/ip-sysctl.rst).
  double window = 3145728;
  JitterSpec jitter;
};

struct Placement {
  std::string host;    ///< name in the platform
  std::string device;  ///< name of a DeviceSpec
  /// Standard deviation of the logarithm of the host's speed, because nodes of one kind differ. The median is the
  /// device's speed.
  double speed_spread = 0;
  double speed = 1;  ///< factor on the device's computing speed; above 0
};

}  // namespace dadsim::spec
