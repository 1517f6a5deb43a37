#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimate/critical_batch.hpp"
#include "spec/workload.hpp"
#include "support/statement.hpp"

namespace dadsim::estimate {

/// Published result: samples or epochs that plain gradient sharing needed to reach a target at one global batch.
struct ConvergenceResult {
  enum class WorkUnit : std::uint8_t { epochs, samples };
  std::string workload;       ///< workload, by its name in the registry
  bool adapters = false;      ///< tokens of a sample; 0: the workload's own number
  std::int64_t sequence = 0;  ///< tokens of a sample; 0: as the workload has them
  std::string target;
  std::int64_t batch;  ///< samples of all workers per step
  WorkUnit unit;
  double minimum, maximum;     ///< over the results
  std::optional<double> mean;  ///< mean of the results; none: not published
  int results;
  std::string source;
};

/// Returns all published results (convergence.csv), by workload, then by batch.
std::span<const ConvergenceResult> convergence_table();

/// Steps that a workload is known to need with gradient sharing.
struct KnownSteps {
  double steps = 0;
  double fewest = 0, most = 0;  ///< range of the published results
  std::int64_t batch = 0;       ///< samples of all workers per step
  std::string target;           ///< target reached after the steps; may be empty for a user's own number
  Statement source;             ///< "35 epochs … (MLPerf Training v2.1), between batches 3264 and 4096"
};

/// Steps, or the reason why they are unknown.
struct KnownStepsAnswer {
  std::optional<KnownSteps> known;
  std::optional<Statement> why_not;
};

/// Trained part of a workload, and its sequences.
struct TrainedAs {
  bool adapters = false;      ///< only adapters are trained; the other weights are frozen
  std::int64_t sequence = 0;  ///< tokens of a sample; 0: the workload's own
};

/// From the table: the mean over the rounds at a batch (each its mean, or the middle of its fewest and most, weighted
/// by its number of results), linear in log(batch) between neighbouring batches. Beyond the ends no round shows the
/// need, so nothing is extrapolated. Steps = ⌈samples ÷ batch⌉.
///
/// A round whose most is over three times its fewest counts by its fewest alone: the log it comes from counted
/// something else.
KnownStepsAnswer published_steps(const spec::Workload& workload, std::int64_t batch, const TrainedAs& how = {});

/// Returns published_steps() for every batch in the table, ascending; empty for a workload without published results.
std::vector<StepsAtBatch> published_batches(const spec::Workload& workload);

}  // namespace dadsim::estimate
