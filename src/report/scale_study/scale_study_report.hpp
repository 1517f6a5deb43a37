#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimate/efficiency.hpp"
#include "estimate/ladder.hpp"
#include "report/document/document.hpp"
#include "spec/parameter.hpp"
#include "spec/scale_study_specification.hpp"

namespace dadsim::report {

/// The sizes of a network and of its step.
struct StudiedSize {
  double parameters = 0;
  double rows_per_width = 0;
  std::int64_t batch = 0;                                            ///< samples of all workers in a step
  double critical_batch = std::numeric_limits<double>::quiet_NaN();  ///< critical batch, samples; NaN if unknown
  /// Returns the size in the unit of the kind; NaN if unknown.
  double of(spec::SizeKind kind) const;
};

/// A rung: a network of the family.
struct StudiedRung {
  std::vector<std::pair<std::string, std::string>> changes;  ///< settings, as path and value
  std::string learned_on;
  StudiedSize size;
  bool held_out = false;                     ///< true: held out of the first fit
  estimate::StepsToTarget gradient_sharing;  ///< steps of gradient sharing to the target, by seed
};

/// The results of a run on one rung.
struct StudiedRatio {
  estimate::StepsToTarget steps;            ///< steps to the target, by seed
  std::optional<estimate::Estimate> ratio;  ///< relative steps with their 95 % interval
  std::optional<Statement> why_not;         ///< reason why relative steps are missing
  /// Lower bound of the relative steps, given the length of training. Filled if only gradient sharing reached the
  /// target.
  std::optional<double> more_than;
  double seed_variance = 0;                             ///< variance over seeds of the logarithm of the ratio
  std::optional<estimate::LadderPrediction> predicted;  ///< prediction of a held-out rung from the other rungs
  /// True if the observed value is in the predicted interval. Nothing without a prediction, or if the observation does
  /// not decide it.
  std::optional<bool> held;
};

struct StudiedRun {
  std::string label, algorithm;
  bool as_many_by_definition = false;   ///< true: the run learns the same as gradient sharing, up to rounding
  std::vector<StudiedRatio> rungs;      ///< results, in the order of the report's rungs
  std::optional<estimate::Ladder> fit;  ///< fit of all rungs that have relative steps
  std::optional<Statement> why_no_fit;
  std::optional<estimate::LadderPrediction> workload;  ///< prediction for the workload
  std::optional<Statement> why_no_workload;
  spec::ParameterValues set;  ///< parameters and compressor, if equal on all rungs
};

/// The results of `dadsim scale-study`.
struct ScaleStudyReport : ReportHead {
  std::vector<spec::SizeKind> against;
  double level = 0.9;
  double target_accuracy = 0;
  std::int64_t seeds = 0;
  std::vector<StudiedRung> rungs;
  std::vector<StudiedRun> runs;  ///< runs other than gradient sharing
  std::string workload;          ///< timed workload; empty: none
  StudiedSize workload_size;
};

/// Counts of the predictions of held-out rungs.
struct HeldOutCount {
  std::int64_t cases = 0;  ///< number of predictions that could be checked
  std::int64_t held = 0;   ///< number of checked predictions whose interval holds
  std::int64_t undecided =
      0;  ///< number of predictions whose run missed the target within the budget, and may lie in the interval
};
HeldOutCount held_out_of(const ScaleStudyReport& report);

/// Returns the document; docs/scale-study.md documents every member.
Document document_of(const ScaleStudyReport& report);

}  // namespace dadsim::report
