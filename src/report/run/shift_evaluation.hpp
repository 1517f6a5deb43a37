#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dadsim::report {

/// Accuracies of a run's last model on held-back data of sites that have shifted, under corrections of the shift.
struct ShiftEvaluation {
  /// One kind of held-back data, and one size of test batches.
  struct Row {
    std::string corruption = "none";
    std::int64_t severity = 0;       ///< 0: without corruption
    double label_alpha = 0;          ///< 0: unchanged classes
    std::int64_t batch = 0;          ///< samples of a site that are corrected together, as asked for
    std::vector<double> accuracies;  ///< per arm, shares of 1, over the samples of all sites
  };
  std::vector<std::string> arms;  ///< the first is the unchanged model: "source"
  std::vector<Row> rows;

  std::int64_t quantiles = 0;         ///< quantiles of each unit
  double input_bytes = 0;             ///< bytes of the features' quantiles, which must travel with the model
  double norm_bytes = 0;              ///< bytes that batch norms read; 0 without any
  std::int64_t samples = 0;           ///< held-back samples of all sites
  std::int64_t fewest = 0, most = 0;  ///< held-back samples on a site

  /// Returns the arm with the highest accuracy, the first of equals.
  static std::size_t best_arm(const Row& row);
};

/// Returns the heading of a run's table, its rows (titles first), and sentences on rows in which a correction is worse
/// than none.
std::string shift_heading(const std::string& label);
std::vector<std::vector<std::string>> shift_rows(const ShiftEvaluation& evaluation);
std::vector<std::string> shift_sentences(const std::string& label, const ShiftEvaluation& evaluation);
/// Writes all of it for a terminal.
std::string shift_table(const std::string& label, const ShiftEvaluation& evaluation);

}  // namespace dadsim::report
