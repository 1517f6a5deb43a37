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

/// Who shares weights with whom.
enum class Sharing : std::uint8_t {
  one_network,   ///< all sites apply the same gradient to the same weights
  pooled,        ///< one site has all data
  no_sharing,    ///< every site has weights and data of its own
  own_weights,   ///< every site has weights of its own and exchanges them with its neighbours in a graph
  event_driven,  ///< who shares what with whom, and when, is the method's own affair
};

/// Which optimizers a method works with.
enum class Needs : std::uint8_t {
  any_optimizer,
  plain_sgd,  ///< SGD without momentum: its own momentum, or the sign that it applies, is in the place of one
  adam        ///< Adam or AdamW, whose parameters it takes over
};

/// What a method minimises where a run says nothing of it: Σ p_s F_s, F_s the mean loss over the samples of site s.
enum class Objective : std::uint8_t {
  rows,      ///< p_s by the rows in the site's batches: by its samples, or all alike where batches are equal
  samples,   ///< p_s by the site's samples
  arrivals,  ///< p_s by how often something comes from the site: who is faster counts more
};

/// How much of a layer's gradient a compression keeps, in units of its own (components, entries).
struct RetainedRank {
  step::Expression most;  ///< at most; without slots
  step::Expression all;   ///< all that there is
};

// Why sites cannot remember what a compressor lost (MethodInfo::forgets).
inline constexpr const char* kSendsWeights =
    "sites send their weights, and what is lost of those does not add up over steps";
inline constexpr const char* kSitesChange = "who takes part changes from step to step";
inline constexpr const char* kSendsRows =
    "sites send the rows of a batch, and what is lost of those is no part of the next batch's";

/// How one layer may be shared, where layers may be shared in different ways.
struct LayerStatistic {
  std::string name;         ///< as in <share statistic="…">
  bool exact = true;        ///< it leaves the gradient of all samples
  bool own_layers = false;  ///< nothing is shared: sites have weights of their own there
};

/// A run's batches and steps, which need not be learned to be known.
struct RunContext {
  std::size_t sites = 0;
  double batch = 0;          ///< samples of all sites in a step; the mean, where steps differ
  double sampling_rate = 0;  ///< share of its site's samples that a step takes, at the site where it is largest
  bool sampled = false;      ///< every sample is taken by chance, independent of the others and of other steps
  std::int64_t steps = 0;
  std::vector<double> rows = {};   ///< per site, samples in a mean step
  std::vector<double> rates = {};  ///< per site, the share of its samples that these are
  /// Per site, the steps that it has begun, those among them that came to nothing; empty: all sites have begun all.
  std::vector<std::int64_t> begun = {};
};

/// What is known of a run when a method is asked about it.
struct RunFacts {
  const spec::RunSpec& run;
  std::size_t sites = 0;                   ///< 0: not known
  const spec::ModelSpec* model = nullptr;  ///< the network that learns; null: not known
  spec::SampleShape sample = {};
  std::uint64_t seed = 1;
  std::optional<RunContext> planned = {};  ///< as it is to go; none: data and batches are not known yet
  std::optional<RunContext> taken = {};    ///< as it went: the steps that were taken
  bool stand_in = false;                   ///< nothing is known of data, batches and steps: they stand for others
};

/// Something wrong with a run, and with which part of it.
struct RunFault : Fault {
  static constexpr std::ptrdiff_t kWholeRun = -1, kAverageOfDeltas = -2;
  RunFault(Fault fault, std::ptrdiff_t part = kWholeRun) : Fault(std::move(fault)), rule(part) {}  // NOLINT
  RunFault(std::ptrdiff_t part, std::string is_wrong, std::string would_be_right)
      : Fault{std::move(is_wrong), std::move(would_be_right)}, rule(part) {}
  std::ptrdiff_t rule;  ///< index into RunSpec::share, or one of the two above
};
using RunFaults = std::vector<RunFault>;

/// Differential privacy that a run has spent. What all sites get holds to it in any case.
struct PrivacySpent {
  double epsilon = 0, delta = 0;
  bool messages = false;       ///< so does each message of a site
  bool sums_of_sites = false;  ///< so does the sum of what sites send
};

/// Everything there is to know about a method, synchronous or event-driven, without running it.
struct MethodInfo {
  // What it is.
  std::string name;         ///< as in <run algorithm="…">
  std::string description;  ///< one sentence
  std::string source;       ///< paper
  /// Floats that one site hands over per layer and step (N rows, p inputs, q outputs, r rank, S sites); of an
  /// event-driven method what a participant sends, and when (d parameters).
  std::string payload;
  std::string family = {};      ///< what kind of method it is, in the field's terms: see docs/algorithms/README.md
  std::string formula = {};     ///< one step, a line per formula; for its page in docs/algorithms
  std::string compute = {};     ///< what a site computes beyond plain training, in words
  std::string checks = {};      ///< what it has been held against, and how near it came; a line each
  std::string on_failure = {};  ///< of an event-driven one, a sentence: wait, drop, retry
  std::vector<spec::ParameterSpec> parameters = {};

  // What it sends.
  Sharing sharing = Sharing::one_network;
  /// The ways in which its layers may be shared, the usual one first; none: all layers are shared alike.
  std::vector<LayerStatistic> statistics = {};
  /// What it sends and compresses are gradients, step by step: sites may remember what was lost of them, have their
  /// momentum in them, and send those of all layers as one.
  bool sends_gradients = false;
  /// All that it sends uncompressed is summed, and each gets all of the sum: devices that work for one worker may take
  /// part as workers of their own.
  spec::PropertyBy<spec::RunSpec> sends_sums = false;
  /// And these are sums of gradients, of which a worker needs no more than it updates.
  spec::PropertyBy<spec::RunSpec> sums_gradients = false;
  bool sums_in_buckets = false;      ///< as frameworks do it: 25 MiB at a time, unless the run says otherwise
  spec::Property compresses = true;  ///< <compress> means something to it
  const char* forgets = nullptr;     ///< why <compress memory="true"> means nothing to it; null: it means something

  // What it needs.
  Needs optimizer = Needs::any_optimizer;
  bool needs_server = true;          ///< where it is event-driven: an aggregator
  bool draws_samples = false;        ///< its sites draw samples by chance: <training shuffle="no"> means nothing to it
  bool follows_drift = true;         ///< where it is event-driven: its sites train with the data that they have by then
  const char* decides_by = nullptr;  ///< where it is event-driven: numbers on which its course depends, and which are
                                     ///< known only where it learns; null: none
  spec::Property asks_for_plan = false;  ///< its check looks at RunFacts::planned
  /// Everything that is wrong with such a run; what depends on facts that are not known is not looked at. Throws
  /// InputError for what is wrong with a file that a parameter names.
  std::function<RunFaults(const RunFacts&)> check = nullptr;

  // What it learns.
  Objective objective = Objective::rows;
  const char* one_objective = nullptr;  ///< why <run weights> means nothing to it; null: it means something
  bool is_baseline = false;  ///< what others are compared with: its steps to the target, its samples per second
  spec::PropertyBy<spec::RunSpec> exact = false;  ///< the gradient equals the pooled one up to rounding
  /// The gradient is right in the mean over what sites draw at random alone: no parameters make it exact, and sites in
  /// another order draw other numbers.
  bool estimates = false;
  /// What sites apply is the sign of something: as large for a small gradient as for a large one, so that it is no sum
  /// of what sites have, whatever the parameters.
  bool applies_signs = false;
  /// It adds noise on purpose, which the parameters of `lossless` turn off.
  bool perturbs = false;
  spec::Property unstable = false;  ///< rounding may decide what it finds: no law holds to rounding
  /// It carries out alternatives of which a layer takes one, so that more is computed than is charged.
  spec::Property records_alternatives = false;
  /// Parameters (the others at their defaults) with which a method that compresses loses nothing.
  spec::ParameterValues lossless = {};
  /// Of a method that compresses gradients: it leaves nothing out where `most` is `all`, for want of anything to leave
  /// out. None: it leaves something out unless its parameters are those of `lossless`.
  std::function<RetainedRank(const spec::ParameterValues&)> retained_rank = nullptr;

  // What it holds in memory.
  /// Of every worker from step to step, or through most of a step, beyond what any training does; none: nothing.
  std::function<estimate::AlgorithmState(const spec::ParameterValues&)> state = nullptr;
  /// The same of a run whose steps may go without sites (AbsenceSpec::goes_without), where that is more; none: it is
  /// not. Of the worker that has most. Throws InputError for what is wrong with a file that a parameter names.
  std::function<estimate::AlgorithmState(const RunFacts&)> state_with_absence = nullptr;
  /// Models on this machine at a time while an event-driven run is learned, at least: what clients have trained, and
  /// what of it has arrived, is held until it has gone into a model, and a model until those who train from it have
  /// done so (docs/event-driven.md). None: one. `fails`: participants may.
  std::function<double(const spec::ParameterValues&, double sites, bool fails)> models_held = nullptr;

  /// Of a run with `taken`; none: it adds no noise, or what it spends is not known.
  std::function<std::optional<PrivacySpent>(const RunFacts&)> privacy = nullptr;

  // What a result must say of it; empty: nothing.
  std::function<std::string(const RunFacts&)> remark = nullptr;
  /// Where another network is timed than learns, of the one that is timed.
  std::function<std::string(const spec::ModelShape&)> remark_on_timed = nullptr;

  bool event_driven() const { return sharing == Sharing::event_driven; }
  bool decentralised() const { return sharing == Sharing::own_weights; }
  bool remembers() const { return forgets == nullptr; }
  bool communicates() const { return sharing != Sharing::pooled && sharing != Sharing::no_sharing; }
};

/// The values of all parameters that are not given, as text.
spec::ParameterValues default_parameters(const MethodInfo& info);
/// A run of a method with these parameters, the others at their defaults.
spec::RunSpec run_of(const MethodInfo& info, const spec::ParameterValues& given = {});
/// What a run minimises: "the mean over samples", "the mean over sites", "sites as often as they send".
std::string objective_in_words(const MethodInfo& info, const spec::RunSpec& run, const spec::TrainingSpec& training);
/// Why <run weights> means nothing to a method; empty: it means something.
std::string why_no_weights(const MethodInfo& info);
/// Everything that is wrong with a run; none: nothing.
RunFaults faults_of(const MethodInfo& info, const RunFacts& facts);
/// Whether devices that have parts of its sequences may take part as workers do.
bool may_divide_sequences(const MethodInfo& info, const spec::RunSpec& run);
/// What of their states its workers may divide at most: gradients, and parameters behind them, where these are summed
/// and nothing else needs them whole.
spec::Sharding most_sharding(const MethodInfo& info, const spec::RunSpec& run);
/// Whether some layers are each site's own.
bool has_own_layers(const MethodInfo& info, const spec::RunSpec& run);
/// Whether the statistic of that name loses something.
bool is_lossy(const MethodInfo& info, const std::string& statistic);

}  // namespace dadsim::methods
