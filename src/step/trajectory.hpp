#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "step/leak.hpp"
#include "step/step.hpp"

namespace dadsim::step {

/// Evaluation of sites with weights of their own, x_i: their distance and quality.
struct SitesEvaluation {
  double average_loss = 0, average_accuracy = 0;  ///< quality of the network whose weights are the mean x̄ over sites
  double consensus_distance = 0;                  ///< (1/n) Σ ‖x_i − x̄‖², over all learned parameters
  std::vector<double> accuracies;                 ///< per site, 0…1
  bool operator==(const SitesEvaluation&) const = default;
};

/// Quality on the held-back data after a number of steps.
struct Evaluation {
  std::int64_t step = 0;  ///< training steps done
  double loss = 0;        ///< mean cross-entropy on the held-back samples, nats
  double accuracy = 0;    ///< share of held-back samples classified right, 0…1
  double auc = 0;         ///< area under the ROC curve, one class against the rest, mean over classes that occur, 0…1
  std::optional<SitesEvaluation> sites = {};  ///< the above are means over sites if present
};

/// Effective ranks in one epoch, per matrix layer, input first (rank-dAD's introspection).
struct EpochRanks {
  std::int32_t epoch = 0;      ///< 1-based
  std::vector<double> site;    ///< components kept per site, mean over sites and steps
  std::vector<double> merged;  ///< components after merging, mean over steps
};

/// One learned run: its learning curve, and the computations and messages of every step.
struct Trajectory {
  std::vector<StepStructure> structures;
  std::vector<Step> distinct_steps;
  std::vector<std::int32_t> steps;  ///< per training step: index into distinct_steps
  std::vector<Evaluation> curve;    ///< starts with step 0, before training
  std::vector<EpochRanks> ranks;    ///< empty unless the algorithm compresses by rank
  std::int64_t steps_per_epoch = 0;
  std::int64_t diverged_at = 0;  ///< the step after which the loss was no longer finite; 0: it always was
  std::optional<Leak> leak;      ///< none: not measured
};

}  // namespace dadsim::step
