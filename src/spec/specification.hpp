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

// The learning and timing problem, complete and checked: the scenario reader fills it in and the other folders read it.
// Every default has been resolved; every path is absolute.

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
  double momentum = 0;                                ///< for sgd, lars and muon
  bool nesterov = false;                              ///< for sgd and muon
  double weight_decay = 0;                            ///< sgd, adam, lars: added to the gradient (L2); others:
                                                      ///< decoupled
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< for adam, adamw and lamb; muon: for parameters that Adam
                                                      ///< takes
  double trust = 0.001;                               ///< lars: trust coefficient η of the paper
  double clip_norm = 0;                               ///< gradients with a larger norm are scaled down to it; 0: never
  MuonScale scale = MuonScale::tall;
  NewtonSchulz coefficients = NewtonSchulz::fixed;
  double adam_rate = 3e-4;  ///< muon: learning rate of parameters that Adam takes
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
  double warm_up_epochs = 0;             ///< epochs of linear warm-up from 0, for every kind
  std::vector<std::int64_t> milestones;  ///< steps: epochs after which the rate is multiplied by `factor`
  double factor = 0.1;                   ///< steps: factor at each milestone
  double final_factor = 0;               ///< cosine: final share of the learning rate
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
                                            ///< poisson: the same on average, each sample drawn independently
  bool in_order = false;                    ///< samples are taken in data order in every pass
  double epochs = 10;                       ///< training budget, epochs
  double target_accuracy = 0.95;            ///< accuracy on held-back data, 0…1
  /// More target accuracies; relative steps are reported for each.
  std::vector<double> further_targets = {};
  Stop stop = Stop::budget;         ///< target: a run ends at the first evaluation that reaches the target accuracy
  std::int64_t evaluate_every = 0;  ///< steps; 0: once per epoch
  double label_smoothing = 0;       ///< share of every training label spread over all classes
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
  std::int64_t seeds = 1;   ///< number of seeds to learn with: the scenario's, the next, …; the first is timed
  bool exact_once = false;  ///< runs of exact algorithms, equal up to rounding, are learned once
  /// Steps between measurements of what messages reveal; 0: rare enough to cost little.
  std::int64_t leak_every = 0;

  /// Returns all targets, `target_accuracy` first.
  std::vector<double> targets() const;
  /// Returns the greatest target, at which training with stop="target" ends.
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

/// Compression of a run's matrices before they are sent.
struct CompressSpec {
  std::string method = "none";      ///< name in the compressors' registry
  ParameterValues parameters = {};  ///< every parameter of the method
  bool memory = false;              ///< sites keep the loss of gradients and add it to the next ones
  /// Unit of compression and of messages: each layer's gradient; each tensor, all layers in one message; all layers.
  enum class Scope : std::uint8_t { layer, tensor, model };
  Scope scope = Scope::layer;
  bool operator==(const CompressSpec&) const = default;
};
constexpr auto names_of(CompressSpec::Scope) {
  using enum CompressSpec::Scope;
  return std::to_array<Name<CompressSpec::Scope>>({{layer, "layer"}, {tensor, "tensor"}, {model, "model"}});
}

/// Sharing of some layers' gradients, for an algorithm whose layers may differ.
struct ShareRule {
  std::string layers;      ///< name of a layer of the learning network, or a pattern in which * matches anything
  std::string statistic;   ///< statistic that sites send for such a layer
  std::int64_t every = 1;  ///< steps between sharing and updating the layer, with the accumulated statistics
  bool operator==(const ShareRule&) const = default;
};

/// Bucket size of DistributedDataParallel: bucket_cap_mb = 25.
inline constexpr double kBucketBytes = 25.0 * 1024.0 * 1024.0;

/// First bucket of a step in DistributedDataParallel, small so that sending starts early: 1 MiB.
inline constexpr double kFirstBucketBytes = 1024.0 * 1024.0;

/// Weights of the sites in a run's objective Σ p_s F_s, F_s the mean loss over the samples of site s.
enum class SiteWeights : std::uint8_t {
  published,  ///< default of the method (methods::Objective)
  samples,    ///< p_s is the site's share of all samples
  uniform,    ///< equal for all sites
};
constexpr auto names_of(SiteWeights) {
  using enum SiteWeights;
  return std::to_array<Name<SiteWeights>>({{published, "published"}, {samples, "samples"}, {uniform, "uniform"}});
}

/// Failures in a run, if they differ from the scenario's.
struct ConditionsSpec {
  /// Source of a condition: the scenario's, or none.
  enum class Of : std::uint8_t { scenario, none };
  Of failures = Of::scenario;           ///< <failures>, and the state profiles of a platform file
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

/// Behaviour of a run with steps when sites are absent.
struct AbsenceSpec {
  enum class Does : std::uint8_t {
    wait,     ///< wait until all sites are present
    without,  ///< take the step with the sites present
    retry,    ///< wait for `patience`, then continue without
    restart,  ///< wait, and continue from the last checkpoint
  };
  Does does = Does::wait;
  double patience = 10;  ///< seconds; retry
  /// Weights of the present sites' parts.
  enum class Estimate : std::uint8_t {
    present,   ///< normalised to one: the mean over the sites present
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
  ParameterValues parameters;  ///< every parameter of the algorithm
  /// Collective algorithms: names of the collectives' registry, or "auto".
  std::string all_reduce = "auto";
  std::string all_gather = "auto";
  std::string reduce_scatter = "auto";
  /// Bytes up to which consecutive sums are merged into one; 0: sums as the algorithm issues them.
  double bucket_bytes = 0;
  bool communicates = true;  ///< false: a reference without exchange, for which `exchange` has no effect
  /// With buckets: bytes of the first bucket of a step, if fewer than `bucket_bytes`.
  double first_bucket_bytes = kFirstBucketBytes;
  CompressSpec compress = {};
  bool decentralised = false;  ///< sites exchange with their neighbours in a graph
  /// The order of events determines the learning: the run is simulated on its cluster first, and learned in the
  /// simulated order.
  bool event_driven = false;
  std::vector<ShareRule> share = {};      ///< rules of sharing; for each layer the first match applies; none: the
                                          ///< algorithm's default
  std::string average_deltas_above = {};  ///< name of the layer above whose Δ are averaged over sites; empty: none
  std::vector<std::string> files = {};    ///< names of parameters that are paths, whose contents are part of the value
  SiteWeights weights = SiteWeights::published;
  ConditionsSpec conditions = {};
  AbsenceSpec absence = {};
  bool exchange_named = false;  ///< true: `exchange` is written in the scenario
};

/// Format of an optimizer's moments.
enum class Moments : std::uint8_t {
  automatic,  ///< fp32; as wide as the weights without fp32 masters
  fp32,
  weights,  ///< format of the weights
  bits8,    ///< 8 bit with an fp32 scale for each 256 (Dettmers et al., arXiv:2110.02861; bitsandbytes)
};
constexpr auto names_of(Moments) {
  using enum Moments;
  return std::to_array<Name<Moments>>({{automatic, "auto"}, {fp32, "fp32"}, {weights, "weights"}, {bits8, "8bit"}});
}

/// Algorithm of attention.
enum class Attention : std::uint8_t {
  plain,    ///< the scores of all pairs of positions are written and kept for the backward pass
  flash,    ///< block by block; scores are never written, and recomputed in the backward pass (arXiv:2205.14135)
  flash_2,  ///< flash with the kernels of FlashAttention-2
  flash_3,  ///< flash with the kernels for Hopper and later, of FlashAttention-3 and cuDNN
};
constexpr bool writes_scores(Attention attention) { return attention == Attention::plain; }
constexpr auto names_of(Attention) {
  using enum Attention;
  return std::to_array<Name<Attention>>(
      {{plain, "plain"}, {flash, "flash"}, {flash_2, "flash-2"}, {flash_3, "flash-3"}});
}

/// Network and settings for which steps are timed.
struct TimedAsSpec {
  std::string workload;     ///< name in the registry; empty: a file's, or the network that learns
  std::int64_t batch = 32;  ///< samples per worker and step
  Precision precision = Precision::fp32;
  std::string file;                   ///< file of the user's own workload; empty: none
  ModelShape own_shape;               ///< layers in that file
  std::int64_t own_dataset_size = 0;  ///< samples per epoch, from that file; 0: not given
  /// Number of steps with gradient sharing, or of epochs, given by the user; none: published numbers, if available.
  std::optional<double> steps, epochs;
  /// Budget in samples, or in tokens for workloads whose samples are sequences, in place of steps or epochs.
  std::optional<double> samples, tokens;
  std::string target;                 ///< result reached after this training, in words; may be empty
  std::int64_t evaluation_every = 0;  ///< steps of the workload between evaluations; 0: no evaluation is charged
  double evaluation_seconds = 0;      ///< seconds per evaluation
  double start_up = 0;                ///< seconds before the first step
  ParallelismSpec parallelism = {};
  ParameterValues sizes = {};  ///< workload sizes given explicitly
  Attention attention = Attention::plain;
  std::int64_t adapters = 0;  ///< rank of learned adapters on frozen weights; 0: all weights are learned
  Adapted adapted = Adapted::all;
  double input_rate = 0;        ///< most samples per second fed to each worker; 0: no limit
  bool wide_gradients = false;  ///< 16 bit: gradients are sent in fp32 nevertheless
  bool no_masters = false;      ///< 16 bit: the optimizer updates the weights, without an fp32 copy
  Moments moments = Moments::automatic;
  bool loss_scaling = false;  ///< fp16: gradients are checked for infinities before each update
  Program program = Program::typical;
  double operator_seconds = 0;  ///< host seconds per kernel; 0: measured ones (spec/programs.csv)

  bool of_other_network() const { return !workload.empty() || !file.empty(); }
};

/// Random variation of computing speed. Factors are log-normal with mean 1, drawn from the scenario's seed.
struct JitterSpec {
  double spatial = 0;   ///< standard deviation of the logarithm between workers, constant over steps
  double temporal = 0;  ///< standard deviation of the logarithm between steps, drawn for each worker
  bool operator==(const JitterSpec&) const = default;
};

/// Accuracy of simulating collectives.
enum class Fidelity : std::uint8_t {
  automatic,    ///< message if fast enough, otherwise flow
  message,      ///< every message of every collective: the reference
  flow,         ///< link sharing computed once per set of pairs; requires workers in step and an idle, steady network
  closed_form,  ///< latency plus bytes over bandwidth of the worst pair, without sharing: a rough estimate
};
constexpr auto names_of(Fidelity) {
  using enum Fidelity;
  return std::to_array<Name<Fidelity>>(
      {{automatic, "auto"}, {message, "message"}, {flow, "flow"}, {closed_form, "closed-form"}});
}

/// Settings of the network simulation.
struct NetworkSpec {
  Fidelity fidelity = Fidelity::automatic;
  std::int64_t message_budget = 500'000;  ///< automatic: messages simulated per run, about 4 µs each
  std::int64_t timed_steps = 0;  ///< number of differing steps that are simulated, others are interpolated; 0: all
  bool rendezvous = false;  ///< a message leaves after its receiver has posted and notified the sender (like gloo): one
                            ///< path latency later
  std::int64_t streams = 1;  ///< connections per transfer, on lines with measured bandwidth
  /// Most bytes in flight per connection on such lines. A Linux receiver buffers up to tcp_rmem[2] = 6 MiB, half of
  /// which is its window (tcp_adv_win_scale 1; Documentation/networking/ip-sysctl.rst).
  double window = 3145728;
  JitterSpec jitter;
};

struct Placement {
  std::string host;    ///< name in the platform
  std::string device;  ///< name of a DeviceSpec
  /// Standard deviation of the logarithm of its speed, with the device's speed as median: nodes of one kind differ.
  double speed_spread = 0;
  double speed = 1;  ///< factor on the device's computing speed; above 0
};

}  // namespace dadsim::spec
