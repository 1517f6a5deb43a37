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

/// The sizes of a network and its step.
struct StudiedSize {
  double parameters = 0;
  double rows_per_width = 0;
  std::int64_t batch = 0;                                            ///< samples of all workers in a step
  double critical_batch = std::numeric_limits<double>::quiet_NaN();  ///< not a number if unknown
  /// Returns the size in the unit of the kind; not a number if unknown.
  double of(spec::SizeKind kind) const;
};

/// A network of the family.
struct StudiedRung {
  std::vector<std::pair<std::string, std::string>> changes;  ///< path and value
  std::string learned_on;
  StudiedSize size;
  bool held_out = false;                     ///< true: left out of the first fit
  estimate::StepsToTarget gradient_sharing;  ///< steps of gradient sharing, by seed
};

/// The results of a run on one rung.
struct StudiedRatio {
  estimate::StepsToTarget steps;            ///< by seed
  std::optional<estimate::Estimate> ratio;  ///< relative steps with their 95 % interval
  std::optional<Statement> why_not;         ///< reason for missing relative steps
  /// Lower bound of the relative steps, given the length of training, if only gradient sharing reached the target.
  std::optional<double> more_than;
  double seed_variance = 0;                             ///< variance over seeds of the logarithm of the ratio
  std::optional<estimate::LadderPrediction> predicted;  ///< prediction for a held-out rung by the other rungs
  /// True if the observed value lies in the predicted interval; nothing without a prediction, or if undecided.
  std::optional<bool> held;
};

struct StudiedRun {
  std::string label, algorithm;
  bool as_many_by_definition = false;   ///< true: it learns the same as gradient sharing, up to rounding
  std::vector<StudiedRatio> rungs;      ///< in the order of the report's rungs
  std::optional<estimate::Ladder> fit;  ///< fit of all rungs that have relative steps
  std::optional<Statement> why_no_fit;
  std::optional<estimate::LadderPrediction> workload;  ///< prediction for the workload
  std::optional<Statement> why_no_workload;
  spec::ParameterValues set;  ///< its parameters and compressor, as far as equal on all rungs
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

/// Counts over the predictions of held-out rungs.
struct HeldOutCount {
  std::int64_t cases = 0;  ///< decided predictions
  std::int64_t held = 0;   ///< decided predictions whose interval holds
  std::int64_t undecided =
      0;  ///< predictions whose run missed the target within the budget, and may lie in the interval
};
HeldOutCount held_out_of(const ScaleStudyReport& report);

/// Returns the document; docs/scale-study.md documents every member.
Document document_of(const ScaleStudyReport& report);

}  // namespace dadsim::report
