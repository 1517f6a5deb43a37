#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/network.hpp"
#include "step/trajectory.hpp"

namespace dadsim::algorithms {

/// Copies of the weights between two evaluations, kept while a target has not been met. If the later evaluation meets
/// the target, a binary search among the copies finds the step, to a sixteenth of the interval.
class RecentWeights {
 public:
  using Networks = std::vector<const models::Network*>;
  /// Evaluates networks with their weights after `step`.
  using Evaluate = std::function<step::Evaluation(std::int64_t step, const Networks& networks)>;

  /// `every`: steps between evaluations.
  RecentWeights(std::vector<double> targets, std::int64_t every, const Networks& networks);

  /// Returns whether to keep the weights after step `done`, which is not evaluated.
  bool wants(std::int64_t done) const { return spacing_ > 0 && !ahead_.empty() && done % every_ % spacing_ == 0; }
  void keep(std::int64_t done, const Networks& networks);

  /// Appends to `curve` the evaluation `reached`. If `reached` is the first to meet a target, evaluations of kept
  /// weights are inserted before it.
  void add_to(std::vector<step::Evaluation>& curve, step::Evaluation reached, const Networks& networks,
              const Evaluate& evaluate);

  /// Returns the largest number of copies between two evaluations, for copies of `bytes` bytes: 15, or as many as fit
  /// in 128 MiB.
  static std::int64_t most_copies(double bytes);

 private:
  struct KeptWeights {
    std::int64_t step = 0;
    std::vector<models::ParametersOf<float>> parameters;  ///< weights of each network
  };

  std::vector<double> ahead_;  ///< targets not yet met by an evaluation
  std::int64_t every_ = 1;
  std::int64_t spacing_ = 0;  ///< steps between copies; 0: no copies
  std::vector<KeptWeights> kept_;
};

/// Returns the bytes of a network's parameters and running statistics.
std::int64_t bytes_of(const models::ParametersOf<float>& parameters);

}  // namespace dadsim::algorithms
