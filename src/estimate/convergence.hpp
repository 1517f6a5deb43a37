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

/// Published result: samples or epochs that plain gradient sharing needed to reach a target with one global batch.
struct ConvergenceResult {
  enum class WorkUnit : std::uint8_t { epochs, samples };
  std::string workload;       ///< name of the workload in the registry
  bool adapters = false;      ///< true: only adapters were trained
  std::int64_t sequence = 0;  ///< true: only adapters were trained
  std::string target;
  std::int64_t batch;  ///< samples of all workers per step
  WorkUnit unit;
  double minimum, maximum;     ///< samples or epochs, over all results
  std::optional<double> mean;  ///< mean of the results; none: not published
  int results;
  std::string source;
};

/// Returns all published results (convergence.csv), sorted by workload, then by batch.
std::span<const ConvergenceResult> convergence_table();

/// Steps that a workload needs with gradient sharing, from published or given results.
struct KnownSteps {
  double steps = 0;
  double fewest = 0, most = 0;  ///< range of the steps over the published results
  std::int64_t batch = 0;       ///< samples of all workers per step
  std::string target;           ///< target that these steps reach; may be empty for a user's own number
  Statement source;             ///< "35 epochs … (MLPerf Training v2.1), between batches 3264 and 4096"
};

/// Steps, or the reason why they are unknown.
struct KnownStepsAnswer {
  std::optional<KnownSteps> known;
  std::optional<Statement> why_not;
};

/// Trained part of a workload, and the length of its sequences.
struct TrainedAs {
  bool adapters = false;      ///< true: only adapters are trained; other weights are frozen
  std::int64_t sequence = 0;  ///< tokens of a sample; 0: the workload's own
};

/// Returns the steps from the table: ⌈samples ÷ batch⌉. The samples at a batch are the mean over the rounds (of each,
/// its mean, or the middle of its minimum and maximum, weighted by its number of results). Between neighbouring batches
/// they are linear in log(batch). Outside of the table nothing is extrapolated.
///
/// A round whose maximum is over three times its minimum contributes its minimum alone, because its log counted
/// something else.
KnownStepsAnswer published_steps(const spec::Workload& workload, std::int64_t batch, const TrainedAs& how = {});

/// Returns published_steps() for every batch in the table, ascending; empty for a workload without published results.
std::vector<StepsAtBatch> published_batches(const spec::Workload& workload);

}  // namespace dadsim::estimate
