#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "estimate/memory.hpp"
#include "models/network_fwd.hpp"
#include "spec/parameter.hpp"

namespace dadsim::algorithms {

class TrainingStep;

/// A synchronous algorithm: how the sites turn their batches into the gradient that all of them apply. An instance
/// belongs to one run and may keep state from step to step.
class Algorithm {
 public:
  virtual ~Algorithm() = default;

  /// *Requires* step.begin() with the batch of this step. *Ensures* step.gradient() holds every layer's gradient,
  /// everything that was sent went through step.exchange(), and everything that was computed is recorded.
  virtual void run(TrainingStep& step) = 0;
};

/// Who shares weights with whom.
enum class Sharing {
  one_network,  ///< all sites apply the same gradient to the same weights
  pooled,       ///< one site has all data
  no_sharing,   ///< every site has weights and data of its own
  own_weights,  ///< every site has weights of its own and exchanges them with its neighbours in a graph
};

class GossipAlgorithm;

/// What a remark may be about.
struct RemarkContext {
  const models::Network& network;
  const spec::ParameterValues& parameters;
  std::size_t sites = 0;
  std::uint64_t seed = 0;
};

/// Everything there is to know about an algorithm without running it.
struct AlgorithmInfo {
  std::string name;         ///< as in <run algorithm="…">
  std::string description;  ///< one sentence
  std::string source;       ///< paper
  std::string payload;  ///< floats one site hands over per layer and step; N rows, p inputs, q outputs, r rank, S sites
  Sharing sharing = Sharing::one_network;
  bool exact = false;  ///< the gradient equals the pooled one up to rounding
  std::vector<spec::ParameterSpec> parameters;
  std::function<std::unique_ptr<Algorithm>(const spec::ParameterValues&)> make = {};
  /// Instead of `make`, where sites have weights of their own.
  std::function<std::unique_ptr<GossipAlgorithm>(const spec::ParameterValues&)> make_gossip = {};
  /// Parameters (the others at their defaults) with which an algorithm that compresses loses nothing.
  spec::ParameterValues lossless = {};
  /// What it keeps on every worker from step to step, or through most of a step, beyond what any training does; none:
  /// nothing.
  std::function<estimate::AlgorithmState(const spec::ParameterValues&)> state = {};
  /// What a result must say of the algorithm on this network and with so many sites; empty: nothing.
  std::function<std::string(const RemarkContext&)> remark = nullptr;
};

/// One whole step but for the update: the algorithm, and the sum over sites of what a workload may have and this
/// network does not.
void run_step(const AlgorithmInfo& info, Algorithm& algorithm, TrainingStep& step);

}  // namespace dadsim::algorithms
