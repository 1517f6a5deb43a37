#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "methods/method.hpp"
#include "models/network_fwd.hpp"

namespace dadsim::algorithms {

class TrainingStep;

using methods::MethodInfo;
using methods::Needs;
using methods::RetainedRank;
using methods::RunContext;
using methods::RunFacts;
using methods::RunFault;
using methods::RunFaults;
using methods::Sharing;

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

class GossipAlgorithm;

/// A method of the registry: its description, and how an instance for a run is made.
struct SynchronousMethod : MethodInfo {
  std::variant<std::function<std::unique_ptr<Algorithm>(const spec::RunSpec&)>,
               std::function<std::unique_ptr<GossipAlgorithm>(const spec::RunSpec&)>>
      make;  ///< the second where sites have weights of their own
};

/// The network that learns in such a run, none where it is not known, or its layers do not fit.
std::optional<models::Network> network_of(const RunFacts& facts);

/// An instance for a run.
std::unique_ptr<Algorithm> make_algorithm(const SynchronousMethod& method, const spec::RunSpec& run);
std::unique_ptr<Algorithm> make_algorithm(const SynchronousMethod& method, const spec::ParameterValues& values = {});
std::unique_ptr<GossipAlgorithm> make_gossip(const SynchronousMethod& method, const spec::RunSpec& run);
/// Whether a run compresses gradients at all, so that there would be something that it leaves out.
bool compresses_gradients(const MethodInfo& info, const spec::RunSpec& run);
/// Of how many layers of a network, and of how many that it compresses, a run can leave something out at `workers`
/// sites with so many samples each. Where it is of none, the run learns what it would learn without compression,
/// whatever that compression is worth.
struct LossyLayers {
  std::size_t layers = 0, of = 0;
};
LossyLayers lossy_layers(const MethodInfo& info, const spec::RunSpec& run, const spec::ModelShape& network,
                         std::int64_t samples, std::size_t workers);

/// One whole step but for the update: the algorithm, and the sum over sites of what a workload may have and this
/// network does not.
void run_step(const MethodInfo& info, Algorithm& algorithm, TrainingStep& step);

}  // namespace dadsim::algorithms
