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
  plain_sgd,  ///< SGD without momentum: the method's own momentum, or the sign that it applies, replaces one
  adam,       ///< Adam or AdamW, whose parameters it takes over
  muon        ///< Muon, whose momentum, scale and AdamW it takes over
};

/// Default objective of a method: Σ p_s F_s, F_s the mean loss over the samples of site s.
enum class Objective : std::uint8_t {
  rows,      ///< p_s by the rows in the site's batches: by its samples, or equal if batches are equal
  samples,   ///< p_s by the site's samples
  arrivals,  ///< p_s by how often the site contributes: faster sites count more
};

/// The part of a layer's gradient that a compression keeps, in its own units (components, entries).
struct RetainedRank {
  step::Expression most;  ///< largest kept number; without slots
  step::Expression all;   ///< number that the gradient has
};

// Reasons why sites cannot remember compression losses (MethodInfo::forgets).
inline constexpr const char* kSendsWeights = "sites send their weights, whose errors do not add up over steps";
inline constexpr const char* kSitesChange = "participants change from step to step";
inline constexpr const char* kSendsRows = "sites send the rows of a batch, whose errors do not fit the next batch";

/// A way of sharing a layer, if layers may be shared in different ways.
struct LayerStatistic {
  std::string name;         ///< name in <share statistic="…">
  bool exact = true;        ///< it leaves the gradient of all samples
  bool own_layers = false;  ///< nothing is shared: sites have weights of their own there
};

/// A run's batches and steps, which are known without learning.
struct RunContext {
  std::size_t sites = 0;
  double batch = 0;          ///< samples of all sites in a step; the mean if steps differ
  double sampling_rate = 0;  ///< share of its site's samples that a step takes, at the site with the largest share
  bool sampled = false;      ///< every sample is drawn independently of the others and of other steps
  std::int64_t steps = 0;
  std::vector<double> rows = {};   ///< per site, samples in a mean step
  std::vector<double> rates = {};  ///< per site, share of its samples in a mean step
  /// Per site, the steps that it has begun, including those without a result; empty: all sites have begun all.
  std::vector<std::int64_t> begun = {};
};

/// Known facts of a run, for questions to its method.
struct RunFacts {
  const spec::RunSpec& run;
  std::size_t sites = 0;                   ///< 0: unknown
  const spec::ModelSpec* model = nullptr;  ///< the network that learns; null: unknown
  spec::SampleShape sample = {};
  std::uint64_t seed = 1;
  std::optional<RunContext> planned = {};  ///< the run's plan; none: data and batches are unknown
  std::optional<RunContext> taken = {};    ///< the steps carried out
  bool stand_in = false;                   ///< data, batches and steps are stand-ins for unknown ones
};

/// A fault of a run, with the part concerned.
struct RunFault : Fault {
  static constexpr std::ptrdiff_t kWholeRun = -1, kAverageOfDeltas = -2;
  RunFault(Fault fault, std::ptrdiff_t part = kWholeRun) : Fault(std::move(fault)), rule(part) {}  // NOLINT
  RunFault(std::ptrdiff_t part, std::string is_wrong, std::string would_be_right)
      : Fault{std::move(is_wrong), std::move(would_be_right)}, rule(part) {}
  std::ptrdiff_t rule;  ///< index into RunSpec::share, or one of the two above
};
using RunFaults = std::vector<RunFault>;

/// Differential privacy that a run has spent. It always covers what all sites receive.
struct PrivacySpent {
  double epsilon = 0, delta = 0;
  bool messages = false;       ///< it covers each message of a site
  bool sums_of_sites = false;  ///< it covers the sum of what sites send
};

/// Description of a method, synchronous or event-driven.
struct MethodInfo {
  // Identity.
  std::string name;         ///< name in <run algorithm="…">, and of its page: docs/algorithms/NAME.md describes it
  std::string family = {};  ///< kind of method, in the field's terms: a heading of docs/algorithms/README.md
  std::vector<spec::ParameterSpec> parameters = {};

  // Messages.
  Sharing sharing = Sharing::one_network;
  /// The ways in which its layers may be shared, the usual one first; none: all layers are shared in the same way.
  std::vector<LayerStatistic> statistics = {};
  /// It sends and compresses gradients, step by step: sites may remember their losses, apply momentum to them, and send
  /// those of all layers as one.
  bool sends_gradients = false;
  /// All its uncompressed messages are summed, and each worker gets the whole sum: devices of one worker may take part
  /// as workers of their own.
  spec::PropertyBy<spec::RunSpec> sends_sums = false;
  /// These are sums of gradients, of which a worker needs only the part that it updates.
  spec::PropertyBy<spec::RunSpec> sums_gradients = false;
  bool sums_in_buckets = false;  ///< sums in buckets like frameworks: 25 MiB at a time, unless the run has another size
  spec::Property compresses = true;  ///< <compress> has an effect
  const char* forgets = nullptr;     ///< why <compress memory="true"> has no effect; null: it has one

  // Requirements.
  Needs optimizer = Needs::any_optimizer;
  spec::Property needs_server = true;  ///< for event-driven methods: an aggregator
  bool draws_samples = false;          ///< its sites draw samples at random: <training shuffle="no"> has no effect
  bool follows_drift = true;  ///< for event-driven methods: sites train with the data that they have at that time
  const char* decides_by = nullptr;      ///< for event-driven methods: numbers that determine its course, and are known
                                         ///< only if it learns; null: none
  spec::Property asks_for_plan = false;  ///< its check uses RunFacts::planned
  /// Returns all faults of such a run; faults that depend on unknown facts are not checked. Throws InputError for
  /// errors of a file that a parameter names.
  std::function<RunFaults(const RunFacts&)> check = nullptr;

  // Learning.
  Objective objective = Objective::rows;
  const char* one_objective = nullptr;  ///< why <run weights> has no effect; null: it has one
  bool is_baseline = false;             ///< reference for comparisons: steps to the target, samples per second
  spec::PropertyBy<spec::RunSpec> exact = false;  ///< the gradient equals the pooled one up to rounding
  /// The gradient is right only in expectation over the sites' random draws: no parameters make it exact, and sites in
  /// another order draw other numbers.
  bool estimates = false;
  /// Sites apply the sign of something: as large for a small gradient as for a large one, and so no sum over sites,
  /// whatever the parameters.
  bool applies_signs = false;
  /// It adds noise on purpose, which the parameters of `lossless` turn off.
  bool perturbs = false;
  spec::Property unstable = false;  ///< rounding may decide its result: no law holds up to rounding
  /// It carries out alternatives of which a layer takes one, so that it computes more than it charges.
  spec::Property records_alternatives = false;
  /// Parameters (the others at their defaults) with which a compressing method loses nothing.
  spec::ParameterValues lossless = {};
  /// For methods that compress gradients: a layer loses nothing if `most` equals `all`. None: it loses something unless
  /// the parameters are those of `lossless`.
  std::function<RetainedRank(const spec::ParameterValues&)> retained_rank = nullptr;

  // Memory.
  /// Returns the state of every worker between steps, or during most of a step, beyond that of any training; none:
  /// nothing.
  std::function<estimate::AlgorithmState(const spec::ParameterValues&)> state = nullptr;
  /// Returns the larger state of a run whose steps may go without sites (AbsenceSpec::goes_without), for the worker
  /// with the most; none: it is not larger. Throws InputError for errors of a file that a parameter names.
  std::function<estimate::AlgorithmState(const RunFacts&)> state_with_absence = nullptr;
  /// Returns the least number of models on this machine at a time while an event-driven run is learned. Trained and
  /// received models are held until they have entered a model, and a model until all who train from it have finished
  /// (docs/event-driven.md). None: one. `fails`: participants may fail.
  std::function<double(const spec::ParameterValues&, double sites, bool fails)> models_held = nullptr;

  /// Returns the privacy spent by a run with `taken`; none: it adds no noise, or the amount is unknown.
  std::function<std::optional<PrivacySpent>(const RunFacts&)> privacy = nullptr;

  // Returns the remark that a result must contain; empty: none.
  std::function<std::string(const RunFacts&)> remark = nullptr;
  /// Returns the remark about the timed network, if another one learns.
  std::function<std::string(const spec::ModelShape&)> remark_on_timed = nullptr;

  bool event_driven() const { return sharing == Sharing::event_driven; }
  bool decentralised() const { return sharing == Sharing::own_weights; }
  bool remembers() const { return forgets == nullptr; }
  bool communicates() const { return sharing != Sharing::pooled && sharing != Sharing::no_sharing; }
};

/// Returns a run of a method with these parameters, the others at their defaults.
spec::RunSpec run_of(const MethodInfo& info, const spec::ParameterValues& given = {});
/// Returns a run's objective: "the mean over samples", "the mean over sites", "sites as often as they send".
std::string objective_in_words(const MethodInfo& info, const spec::RunSpec& run, const spec::TrainingSpec& training);
/// Returns why <run weights> has no effect on a method; empty: it has one.
std::string why_no_weights(const MethodInfo& info);
/// Returns all faults of a run.
RunFaults faults_of(const MethodInfo& info, const RunFacts& facts);
/// Returns whether devices with parts of its sequences may take part like workers.
bool may_divide_sequences(const MethodInfo& info, const spec::RunSpec& run);
/// Returns the most state that its workers may divide: parameters if its sums are of gradients, the optimizer's state
/// for other sums, none without sums.
spec::Sharding most_sharding(const MethodInfo& info, const spec::RunSpec& run);
/// Returns whether sites have some layers of their own.
bool has_own_layers(const MethodInfo& info, const spec::RunSpec& run);
/// Returns whether the statistic of that name loses something.
bool is_lossy(const MethodInfo& info, const std::string& statistic);

}  // namespace dadsim::methods
