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

/// A synchronous algorithm: turns the batches of the sites into the gradient that all of them apply. An instance
/// belongs to one run and may keep state between steps.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  /// Prepares for a whole run; called once, before its first step. Throws std::invalid_argument if the parameters
  /// cannot be met in such a run.
  virtual void prepare(const RunContext&) {}

  /// *Requires* step.begin() with the batch of this step. *Ensures* that step.gradient() holds every layer's gradient,
  /// that everything sent went through step.exchange(), and that everything computed is recorded.
  virtual void run(TrainingStep& step) = 0;

  /// Changes the weights after the optimizer has applied the gradient, in the same way at every site.
  virtual void updated(TrainingStep&, models::Network&) {}
};

class GossipAlgorithm;

/// A method of the registry: its description, and a factory of instances for a run.
struct SynchronousMethod : MethodInfo {
  std::variant<std::function<std::unique_ptr<Algorithm>(const spec::RunSpec&)>,
               std::function<std::unique_ptr<GossipAlgorithm>(const spec::RunSpec&)>>
      make;  ///< factory; the second kind for sites with weights of their own
};

/// Returns the network that learns in such a run; none if it is unknown or its layers do not fit.
std::optional<models::Network> network_of(const RunFacts& facts);

/// Makes an instance for a run.
std::unique_ptr<Algorithm> make_algorithm(const SynchronousMethod& method, const spec::RunSpec& run);
std::unique_ptr<Algorithm> make_algorithm(const SynchronousMethod& method, const spec::ParameterValues& values = {});
std::unique_ptr<GossipAlgorithm> make_gossip(const SynchronousMethod& method, const spec::RunSpec& run);
/// Returns whether a run compresses gradients at all, so that there is something to leave out.
bool compresses_gradients(const MethodInfo& info, const spec::RunSpec& run);
/// Counts the layers that a run compresses, and those from which it can leave something out, at `workers` sites with
/// `samples` samples each. With none of the latter, the run learns the same as without compression.
struct LossyLayers {
  std::size_t layers = 0, of = 0;
};
LossyLayers lossy_layers(const MethodInfo& info, const spec::RunSpec& run, const spec::ModelShape& network,
                         std::int64_t samples, std::size_t workers);

/// Runs one whole step without the update: the algorithm, and the sum over sites of the parameters outside the
/// matrices, including those that only a workload has.
void run_step(const MethodInfo& info, Algorithm& algorithm, TrainingStep& step);

}  // namespace dadsim::algorithms
