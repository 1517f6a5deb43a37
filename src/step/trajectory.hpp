#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "step/leak.hpp"
#include "step/step.hpp"

namespace dadsim::step {

/// Evaluation of sites that have their own weights x_i: distance from the mean, and quality.
struct SitesEvaluation {
  double average_loss = 0, average_accuracy = 0;  ///< quality of the network whose weights are the mean x̄ over sites
  double consensus_distance = 0;                  ///< (1/n) Σ ‖x_i − x̄‖², over all learned parameters
  std::vector<double> accuracies;                 ///< accuracy of each site, 0…1
  bool operator==(const SitesEvaluation&) const = default;
};

/// Quality on the held-back data after a number of steps.
struct Evaluation {
  std::int64_t step = 0;  ///< number of completed training steps
  double loss = 0;        ///< mean cross-entropy on the held-back samples, nats
  double accuracy = 0;    ///< share of held-back samples classified correctly, 0…1
  double auc = 0;         ///< area under the ROC curve of one class against all others, mean over classes that occur,
                          ///< 0…1
  std::optional<SitesEvaluation> sites = {};  ///< if present, the figures above are means over sites
};

/// Effective ranks in one epoch, per matrix layer, input first (rank-dAD's introspection).
struct EpochRanks {
  std::int32_t epoch = 0;      ///< epoch, from 1
  std::vector<double> site;    ///< components kept per site, mean over sites and steps
  std::vector<double> merged;  ///< components after merging, mean over steps
};

/// Result of one learned run: its learning curve, and the computations and messages of every step.
struct Trajectory {
  std::vector<StepStructure> structures;
  std::vector<Step> distinct_steps;
  std::vector<std::int32_t> steps;  ///< index into distinct_steps of each training step
  std::vector<Evaluation> curve;    ///< starts with step 0, before training
  std::vector<EpochRanks> ranks;    ///< ranks of each epoch; empty unless the algorithm compresses by rank
  std::int64_t steps_per_epoch = 0;
  std::int64_t diverged_at = 0;  ///< step after which the loss was no longer finite; 0: never
  std::optional<Leak> leak;      ///< measured leaks; none: not measured
};

}  // namespace dadsim::step
