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

/// A synchronous algorithm turns the batches of the sites into the gradient that all sites apply. An instance belongs
/// to one run and may keep state between steps.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  /// Prepares for a whole run; called once, before the first step. Throws std::invalid_argument if the run cannot
  /// satisfy the parameters.
  virtual void prepare(const RunContext&) {}

  /// *Requires* step.begin() with the batch of this step. *Ensures*: step.gradient() holds every layer's gradient;
  /// step.exchange() sent all messages; all computations are recorded.
  virtual void run(TrainingStep& step) = 0;

  /// Changes the weights in the same way at every site, after the optimizer has applied the gradient.
  virtual void updated(TrainingStep&, models::Network&) {}
};

class GossipAlgorithm;

/// A method of the registry: its description, and a factory of instances for a run.
struct SynchronousMethod : MethodInfo {
  std::variant<std::function<std::unique_ptr<Algorithm>(const spec::RunSpec&)>,
               std::function<std::unique_ptr<GossipAlgorithm>(const spec::RunSpec&)>>
      make;  ///< factory; the second type for sites with weights of their own
};

/// Returns the network that learns in a run with these facts; none if the network is unknown or its layers do not fit.
std::optional<models::Network> network_of(const RunFacts& facts);

/// Makes an instance for a run.
std::unique_ptr<Algorithm> make_algorithm(const SynchronousMethod& method, const spec::RunSpec& run);
std::unique_ptr<Algorithm> make_algorithm(const SynchronousMethod& method, const spec::ParameterValues& values = {});
std::unique_ptr<GossipAlgorithm> make_gossip(const SynchronousMethod& method, const spec::RunSpec& run);
/// Returns whether a run compresses gradients, by its method or its compressor.
bool compresses_gradients(const MethodInfo& info, const spec::RunSpec& run);
/// Number of layers whose gradient is not sent completely (`layers`), of all layers with a gradient Δᵀ A (`of`). For
/// `workers` sites with `samples` samples each. With `layers` = 0 the run learns the same as without compression.
struct LossyLayers {
  std::size_t layers = 0, of = 0;
};
LossyLayers lossy_layers(const MethodInfo& info, const spec::RunSpec& run, const spec::ModelShape& network,
                         std::int64_t samples, std::size_t workers);

/// Runs one step without the update: the algorithm, then the sum over sites of parameters outside the matrices,
/// including parameters that only a workload has.
void run_step(const MethodInfo& info, Algorithm& algorithm, TrainingStep& step);

}  // namespace dadsim::algorithms
