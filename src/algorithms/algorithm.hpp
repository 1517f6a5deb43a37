#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimate/memory.hpp"
#include "models/network_fwd.hpp"
#include "spec/model_specification.hpp"
#include "spec/parameter.hpp"
#include "spec/sample_shape.hpp"
#include "spec/specification.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::algorithms {

class TrainingStep;

/// What is known of a run as a whole before it learns, and need not be learned.
struct RunContext {
  std::size_t sites = 0;
  double batch = 0;          ///< samples of all sites in a step; the mean, where steps differ
  double sampling_rate = 0;  ///< share of its site's samples that a step takes, at the site where it is largest
  bool sampled = false;      ///< every sample is taken by chance, independent of the others and of other steps
  std::int64_t steps = 0;
};

/// A synchronous algorithm: how the sites turn their batches into the gradient that all of them apply. An instance
/// belongs to one run and may keep state from step to step.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  /// Called once, before the first step of a run, by whoever has a whole run in view. Throws std::invalid_argument
  /// where the parameters ask for what a run like this cannot give.
  virtual void prepare(const RunContext&) {}

  /// *Requires* step.begin() with the batch of this step. *Ensures* step.gradient() holds every layer's gradient,
  /// everything that was sent went through step.exchange(), and everything that was computed is recorded.
  virtual void run(TrainingStep& step) = 0;

  /// Called once the optimizer has applied the gradient, for what an algorithm does to the weights themselves; every
  /// site does it alike.
  virtual void updated(TrainingStep&, models::Network&) {}
};

/// Who shares weights with whom.
enum class Sharing {
  one_network,  ///< all sites apply the same gradient to the same weights
  pooled,       ///< one site has all data
  no_sharing,   ///< every site has weights and data of its own
  own_weights,  ///< every site has weights of its own and exchanges them with its neighbours in a graph
};

/// How much of a layer's gradient a compression keeps, in units of its own (components, entries).
struct Reach {
  step::Expression most;  ///< at most; without slots
  step::Expression all;   ///< all that there is
};

class GossipAlgorithm;

/// Which optimizer an algorithm can do with.
enum class Needs {
  any_optimizer,
  plain_sgd,  ///< SGD without momentum: its own momentum, or the sign that it applies, is in the place of one
  adam        ///< Adam or AdamW, whose parameters it takes over
};

/// What a remark may be about.
struct RemarkContext {
  const models::Network& network;
  const spec::ParameterValues& parameters;
  std::size_t sites = 0;
  std::uint64_t seed = 0;
  RunContext run = {};      ///< as it went: the steps that were taken; as planned where nothing was learned
  RunContext planned = {};  ///< as it was to go
  bool stand_in = false;    ///< nothing is known of data, batches and steps: they stand for others
};

/// How one layer may be shared, where layers may be shared in different ways.
struct LayerStatistic {
  std::string name;         ///< as in <share statistic="…">
  bool exact = true;        ///< it leaves the gradient of all samples
  bool own_layers = false;  ///< nothing is shared: sites have weights of their own there
};

/// Something wrong with a run's rules of sharing.
struct ShareFault {
  std::ptrdiff_t rule = -1;  ///< index into RunSpec::share; −1: the default; −2: the averaging of Δ
  std::string what, remedy;
};

/// Everything there is to know about an algorithm without running it.
struct AlgorithmInfo {
  std::string name;         ///< as in <run algorithm="…">
  std::string description;  ///< one sentence
  std::string source;       ///< paper
  std::string payload;  ///< floats one site hands over per layer and step; N rows, p inputs, q outputs, r rank, S sites
  std::string family = {};   ///< what kind of method it is, in the field's terms: see docs/algorithms/README.md
  std::string formula = {};  ///< one step, a line per formula; for its page in docs/algorithms
  std::string compute = {};  ///< what a site computes beyond plain training, in words
  std::string checks = {};   ///< what it has been held against, and how near it came; a line each
  Sharing sharing = Sharing::one_network;
  bool is_baseline = false;  ///< what others are compared with: its steps to the target, its samples per second
  /// The ways in which its layers may be shared, the usual one first; none: all layers are shared alike.
  std::vector<LayerStatistic> statistics = {};
  /// What it sends and compresses are gradients, step by step: sites may remember what was lost of them, have their
  /// momentum in them, and send those of all layers as one.
  bool sends_gradients = false;
  bool sums_in_buckets = false;  ///< as frameworks do it: 25 MiB of gradients at a time, unless the run says otherwise
  bool exact = false;            ///< the gradient equals the pooled one up to rounding
  /// The gradient is right in the mean over what sites draw at random alone: no parameters make it exact, and sites in
  /// another order draw other numbers.
  bool estimates = false;
  std::vector<spec::ParameterSpec> parameters;
  std::function<std::unique_ptr<Algorithm>(const spec::ParameterValues&)> make = {};
  /// Instead of `make`, where layers may be shared in different ways.
  std::function<std::unique_ptr<Algorithm>(const spec::RunSpec&)> make_of_run = {};
  /// Whether it is exact with these parameters, where that depends on them; none: `exact` says it.
  std::function<bool(const spec::RunSpec&)> exact_with = {};
  /// What is wrong with how a run would share the layers of this network; none: there is nothing to say.
  std::function<std::vector<ShareFault>(const spec::RunSpec&, const models::Network&)> check_share = {};
  /// Whether it carries out alternatives of which a layer takes one, so that more is computed than is charged; none: it
  /// does not.
  std::function<bool(const spec::ParameterValues&)> rehearses = {};
  /// Instead of `make`, where sites have weights of their own.
  std::function<std::unique_ptr<GossipAlgorithm>(const spec::ParameterValues&)> make_gossip = {};
  /// Parameters (the others at their defaults) with which an algorithm that compresses loses nothing.
  spec::ParameterValues lossless = {};
  /// Whether rounding may decide what it finds with these parameters, so that no law holds to rounding; none: it does
  /// not.
  std::function<bool(const spec::ParameterValues&)> unstable = {};
  Needs optimizer = Needs::any_optimizer;
  /// What sites apply is the sign of something: as large for a small gradient as for a large one, so that it is no sum
  /// of what sites have, whatever the parameters.
  bool applies_signs = false;
  /// Whether <compress> means something to it with these parameters; none: it does.
  std::function<bool(const spec::ParameterValues&)> compresses = {};
  /// What it keeps on every worker from step to step, or through most of a step, beyond what any training does; none:
  /// nothing.
  std::function<estimate::AlgorithmState(const spec::ParameterValues&)> state = {};
  /// What is wrong with learning this network on such samples with these parameters; none: nothing.
  std::function<std::optional<Fault>(const spec::ModelSpec&, const spec::SampleShape&, const spec::ParameterValues&)>
      check_model = nullptr;
  /// What is wrong with its parameters together for so many sites; none: nothing. May be none itself. Throws InputError
  /// for what is wrong with a file that a parameter names.
  std::function<std::optional<Fault>(const spec::ParameterValues&, std::size_t sites)> check = nullptr;
  /// What a result must say of the algorithm on this network and with so many sites; empty: nothing.
  std::function<std::string(const RemarkContext&)> remark = nullptr;
  /// What a result must say where another network is timed than learns, of the one that is timed; none: nothing.
  std::function<std::string(const spec::ModelShape&)> remark_on_timed = nullptr;
  /// Of an algorithm that compresses gradients: with these parameters it leaves nothing out where `most` is `all`, for
  /// want of anything to leave out. None: it leaves something out unless its parameters are those of `lossless`.
  std::function<Reach(const spec::ParameterValues&)> reach = nullptr;
  /// What it computes is random beside the batch: it adds noise on purpose, which the parameters of `lossless` turn
  /// off.
  bool perturbs = false;
  /// What is wrong with its parameters together for sites that exchange in this way. May be none.
  std::function<std::optional<Fault>(const spec::ParameterValues&, spec::ExchangeMode)> check_exchange = nullptr;
  /// Why it cannot learn this network in such a run (`run` is what is planned); none: it can. May be
  /// none itself.
  std::function<std::optional<Fault>(const RemarkContext&)> refuses = nullptr;
};

/// An instance for a run.
std::unique_ptr<Algorithm> make_algorithm(const AlgorithmInfo& info, const spec::RunSpec& run);
/// Whether its gradients are those of all samples pooled, in this run.
bool is_exact(const AlgorithmInfo& info, const spec::RunSpec& run);
/// Whether some layers are each site's own.
bool has_own_layers(const AlgorithmInfo& info, const spec::RunSpec& run);
/// Whether the statistic of that name loses something.
bool is_lossy(const AlgorithmInfo& info, const std::string& statistic);

/// Whether a run compresses gradients at all, so that there would be something that it leaves out.
bool compresses_gradients(const AlgorithmInfo& info, const spec::RunSpec& run);
/// Of how many layers of a network, and of how many that it compresses, a run can leave something out at `workers`
/// sites with so many samples each. Where it is of none, the run learns what it would learn without compression,
/// whatever that compression is worth.
struct Bite {
  std::size_t layers = 0, of = 0;
};
Bite bite(const AlgorithmInfo& info, const spec::RunSpec& run, const spec::ModelShape& network, std::int64_t samples,
          std::size_t workers);

/// One whole step but for the update: the algorithm, and the sum over sites of what a workload may have and this
/// network does not.
void run_step(const AlgorithmInfo& info, Algorithm& algorithm, TrainingStep& step);

}  // namespace dadsim::algorithms
