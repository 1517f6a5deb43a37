#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimate/memory.hpp"
#include "spec/model_shape.hpp"
#include "spec/model_specification.hpp"
#include "spec/parameter.hpp"
#include "spec/property.hpp"
#include "spec/sample_shape.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::methods {

/// Sharing of weights among sites.
enum class Sharing : std::uint8_t {
  one_network,   ///< all sites apply the same gradient to the same weights
  pooled,        ///< one site has all data
  no_sharing,    ///< every site has weights and data of its own
  own_weights,   ///< every site has weights of its own and exchanges them with its neighbours in a graph
  event_driven,  ///< the method itself decides who shares what, when and with whom
};

/// Optimizers that a method works with.
enum class Needs : std::uint8_t {
  any_optimizer,
  plain_sgd,  ///< SGD without momentum: the method adds its own momentum, or applies signs
  adam,       ///< Adam or AdamW; the method reads its parameters
  muon        ///< Muon; the method reads its momentum, scale and AdamW parameters
};

/// Default objective of a method: Σ p_s F_s, with F_s the mean loss over the samples of site s.
enum class Objective : std::uint8_t {
  rows,      ///< p_s ∝ rows in the batches of site s: as its samples, or equal if batches are equal
  samples,   ///< p_s ∝ samples of site s
  arrivals,  ///< p_s ∝ contributions of site s: faster sites count more
};

/// Number of units (components, entries) that a compression keeps of a layer's gradient.
struct RetainedRank {
  step::Expression most;  ///< largest number of units kept; contains no slots
  step::Expression all;   ///< units of the full gradient
};

// Reasons why sites cannot remember compression losses (MethodInfo::forgets).
inline constexpr const char* kSendsWeights = "sites send their weights, whose errors do not add up over steps";
inline constexpr const char* kSitesChange = "participants change from step to step";
inline constexpr const char* kSendsRows = "sites send the rows of a batch, whose errors do not fit the next batch";

/// A way of sharing a layer, for methods that offer several.
struct LayerStatistic {
  std::string name;         ///< name in <share statistic="…">
  bool exact = true;        ///< the shared gradient is that of all samples
  bool own_layers = false;  ///< nothing is shared: each site has its own weights in the layer
};

/// A run's batches and steps, which are known without learning.
struct RunContext {
  std::size_t sites = 0;
  double batch = 0;          ///< samples of all sites in a step; the mean if steps differ
  double sampling_rate = 0;  ///< share of a site's samples that a step takes; the largest over sites
  bool sampled = false;      ///< every sample is drawn independently of other samples and steps
  std::int64_t steps = 0;
  std::vector<double> rows = {};   ///< per site, samples in a mean step
  std::vector<double> rates = {};  ///< per site, share of its samples in a mean step
  /// Per site, steps begun, including those without a result; empty: every site has begun all steps.
  std::vector<std::int64_t> begun = {};
};

/// Facts about a run that the functions of MethodInfo receive; some may be unknown.
struct RunFacts {
  const spec::RunSpec& run;
  std::size_t sites = 0;                   ///< number of sites; 0: unknown
  const spec::ModelSpec* model = nullptr;  ///< the network that learns; null: unknown
  spec::SampleShape sample = {};
  std::uint64_t seed = 1;
  std::optional<RunContext> planned = {};  ///< the run's plan; none: data and batches are unknown
  std::optional<RunContext> taken = {};    ///< the steps carried out
  bool stand_in = false;                   ///< data, batches and steps are placeholders, because the real ones are
                                           ///< unknown
};

/// A fault of a run, and the <share> rule that it concerns.
struct RunFault : Fault {
  static constexpr std::ptrdiff_t kWholeRun = -1, kAverageOfDeltas = -2;
  RunFault(Fault fault, std::ptrdiff_t part = kWholeRun) : Fault(std::move(fault)), rule(part) {}  // NOLINT
  RunFault(std::ptrdiff_t part, std::string is_wrong, std::string would_be_right)
      : Fault{std::move(is_wrong), std::move(would_be_right)}, rule(part) {}
  std::ptrdiff_t rule;  ///< index into RunSpec::share, or one of the constants above
};
using RunFaults = std::vector<RunFault>;

/// Differential privacy that a run has spent. The guarantee always covers the messages that all sites receive.
struct PrivacySpent {
  double epsilon = 0, delta = 0;
  bool messages = false;       ///< the guarantee also covers each message of a site
  bool sums_of_sites = false;  ///< the guarantee also covers sums of the sites' messages
};

/// Description of a method, synchronous or event-driven.
struct MethodInfo {
  // Identity.
  std::string name;         ///< name in <run algorithm="…">, and of its page: docs/algorithms/NAME.md describes it
  std::string family = {};  ///< kind of method, in the field's terms: a heading of docs/algorithms/README.md
  std::vector<spec::ParameterSpec> parameters = {};

  // Messages.
  Sharing sharing = Sharing::one_network;
  /// Ways in which the method's layers may be shared, the usual one first; none: all layers are shared in the same way.
  std::vector<LayerStatistic> statistics = {};
  /// Sites send gradients in every step, and compress them. Sites may then remember compression losses, apply momentum
  /// to gradients, and send the gradients of all layers as one.
  bool sends_gradients = false;
  /// All uncompressed messages are summed, and each worker gets the whole sum. Devices of one worker may then act as
  /// workers of their own.
  spec::PropertyBy<spec::RunSpec> sends_sums = false;
  /// The sums are sums of gradients: a worker needs only the part that it updates.
  spec::PropertyBy<spec::RunSpec> sums_gradients = false;
  bool sums_in_buckets = false;  ///< sums in buckets like frameworks: 25 MiB at a time, unless the run has another size
  spec::Property compresses = true;  ///< <compress> has an effect
  const char* forgets = nullptr;     ///< why <compress memory="true"> has no effect; null: it has one

  // Requirements.
  Needs optimizer = Needs::any_optimizer;
  spec::Property needs_server = true;  ///< event-driven methods: needs an aggregator
  bool draws_samples = false;          ///< sites draw samples at random: <training shuffle="no"> has no effect
  bool follows_drift = true;         ///< event-driven methods: sites train with the data of the current simulated time
  const char* decides_by = nullptr;  ///< event-driven methods: numbers that steer the run and are known only if it
                                     ///< learns; null: none
  spec::Property asks_for_plan = false;  ///< `check` uses RunFacts::planned
  /// Returns all faults of a run of the method; faults that depend on unknown facts are not checked. Throws InputError
  /// for errors of a file that a parameter names.
  std::function<RunFaults(const RunFacts&)> check = nullptr;

  // Learning.
  Objective objective = Objective::rows;
  const char* one_objective = nullptr;  ///< why <run weights> has no effect; null: it has one
  bool is_baseline = false;             ///< other methods are compared with this one in steps to the target and samples
                                        ///< per second
  spec::PropertyBy<spec::RunSpec> exact = false;  ///< the gradient equals the pooled one up to rounding
  /// The gradient is right only in expectation over the sites' random draws. No parameters make it exact, and sites in
  /// another order draw other numbers.
  bool estimates = false;
  /// Sites apply signs. Steps are as large for small gradients as for large ones, and are no sum over sites, for any
  /// parameters.
  bool applies_signs = false;
  /// The method adds noise on purpose; the parameters of `lossless` turn it off.
  bool perturbs = false;
  spec::Property unstable = false;  ///< rounding may decide the result, so that no invariant holds up to rounding
  /// The method carries out several alternatives per layer, and charges only the one that the layer takes.
  spec::Property records_alternatives = false;
  /// Parameters (others at their defaults) with which a compressing method is lossless.
  spec::ParameterValues lossless = {};
  /// For methods that compress gradients: a layer is lossless if `most` equals `all`. Null: only the parameters of
  /// `lossless` are lossless.
  std::function<RetainedRank(const spec::ParameterValues&)> retained_rank = nullptr;

  // Memory.
  /// Returns the state that the method adds on every worker, between steps or during most of a step. Null: none.
  std::function<estimate::AlgorithmState(const spec::ParameterValues&)> state = nullptr;
  /// Returns the state of the worker with the largest state, for runs whose steps may omit sites
  /// (AbsenceSpec::goes_without). Null: `state` applies. Throws InputError for errors of a file that a parameter names.
  std::function<estimate::AlgorithmState(const RunFacts&)> state_with_absence = nullptr;
  /// Returns the least number of models on this machine at a time while an event-driven run is learned. A trained or
  /// received model is held until it is merged, and a merged model until all who train from it have finished
  /// (docs/event-driven.md). Null: one. `fails`: participants may fail.
  std::function<double(const spec::ParameterValues&, double sites, bool fails)> models_held = nullptr;

  /// Returns the privacy spent by a run with `taken`. Null: the method adds no noise, or the amount is unknown.
  std::function<std::optional<PrivacySpent>(const RunFacts&)> privacy = nullptr;

  // Returns the remark that a result must contain; empty: none.
  std::function<std::string(const RunFacts&)> remark = nullptr;
  /// Returns the remark about the timed network, if it differs from the network that learns.
  std::function<std::string(const spec::ModelShape&)> remark_on_timed = nullptr;

  bool event_driven() const { return sharing == Sharing::event_driven; }
  bool decentralised() const { return sharing == Sharing::own_weights; }
  bool remembers() const { return forgets == nullptr; }
  bool communicates() const { return sharing != Sharing::pooled && sharing != Sharing::no_sharing; }
};

/// Returns a run of a method with these parameters, the others at their defaults.
spec::RunSpec run_of(const MethodInfo& info, const spec::ParameterValues& given = {});
/// Returns a run's objective in words: "the mean over samples", "the mean over sites", "sites as often as they send".
std::string objective_in_words(const MethodInfo& info, const spec::RunSpec& run, const spec::TrainingSpec& training);
/// Returns why <run weights> has no effect on a method; empty: it has one.
std::string why_no_weights(const MethodInfo& info);
/// Returns all faults of a run.
RunFaults faults_of(const MethodInfo& info, const RunFacts& facts);
/// Returns whether devices that hold parts of the run's sequences may act as workers.
bool may_divide_sequences(const MethodInfo& info, const spec::RunSpec& run);
/// Returns the highest level of sharding within a worker: parameters for sums of gradients, the optimizer's state for
/// other sums, none without sums.
spec::Sharding most_sharding(const MethodInfo& info, const spec::RunSpec& run);
/// Returns whether sites have some layers of their own.
bool has_own_layers(const MethodInfo& info, const spec::RunSpec& run);
/// Returns whether the statistic of that name is lossy.
bool is_lossy(const MethodInfo& info, const std::string& statistic);

}  // namespace dadsim::methods
