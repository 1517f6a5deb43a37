#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dadsim::report {

/// How the last model of a run does on held-back data of sites that have shifted, under corrections of the shift.
struct ShiftEvaluation {
  /// One kind of held-back data, and one size of test batches.
  struct Row {
    std::string corruption = "none";
    std::int64_t severity = 0;       ///< 0: of no corruption
    double label_alpha = 0;          ///< 0: classes as they are
    std::int64_t batch = 0;          ///< samples of a site that are corrected together, as asked for
    std::vector<double> accuracies;  ///< an entry per arm, shares of 1, of the samples of all sites together
  };
  std::vector<std::string> arms;  ///< the first is the model as it is: "source"
  std::vector<Row> rows;

  std::int64_t quantiles = 0;         ///< of each unit
  double input_bytes = 0;             ///< of the quantiles of the features: what has to travel with the model
  double norm_bytes = 0;              ///< of what batch norms read; 0 without any
  std::int64_t samples = 0;           ///< held-back ones, of all sites together
  std::int64_t fewest = 0, most = 0;  ///< of them on a site

  /// The arm with the highest accuracy; of equal ones the first.
  static std::size_t best_arm(const Row& row);
};

/// The table, and sentences that say where a correction is worse than none.
std::string shift_table(const std::string& label, const ShiftEvaluation& evaluation);

}  // namespace dadsim::report
