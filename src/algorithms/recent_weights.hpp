#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/network.hpp"
#include "step/trajectory.hpp"

namespace dadsim::algorithms {

/// Copies of the weights between two evaluations, for as long as a target is ahead: where the later evaluation meets
/// it, the step that did is looked for among them, by halves. Known so to a sixteenth of the way between the
/// evaluations.
class RecentWeights {
 public:
  using Networks = std::vector<const models::Network*>;
  /// Evaluates networks as they were after `step`.
  using Evaluate = std::function<step::Evaluation(std::int64_t step, const Networks& networks)>;

  /// Evaluations are `every` steps apart.
  RecentWeights(std::vector<double> targets, std::int64_t every, const Networks& networks);

  /// Whether the weights after step `done`, which is not evaluated, are to be kept.
  bool wants(std::int64_t done) const { return spacing_ > 0 && !ahead_.empty() && done % every_ % spacing_ == 0; }
  void keep(std::int64_t done, const Networks& networks);

  /// `reached` follows the last of `curve`: adds to the curve what lies between, for every target that `reached` meets
  /// and none before it has, and then `reached`.
  void add_to(std::vector<step::Evaluation>& curve, step::Evaluation reached, const Networks& networks,
              const Evaluate& evaluate);

  /// Copies between two evaluations where there are steps enough, each of `bytes`: 15, or as many as take 128 MiB.
  static std::int64_t most_copies(double bytes);

 private:
  struct KeptWeights {
    std::int64_t step = 0;
    std::vector<models::ParametersOf<float>> parameters;  ///< per network
  };

  std::vector<double> ahead_;  ///< targets that no evaluation has met
  std::int64_t every_ = 1;
  std::int64_t spacing_ = 0;  ///< steps between copies; 0: none are made
  std::vector<KeptWeights> kept_;
};

/// Bytes of a network's parameters and running statistics.
std::int64_t bytes_of(const models::ParametersOf<float>& parameters);

}  // namespace dadsim::algorithms
