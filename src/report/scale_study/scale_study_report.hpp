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

/// How large a network and its step are.
struct StudiedSize {
  double parameters = 0;
  double rows_per_width = 0;
  std::int64_t batch = 0;                                            ///< samples of all workers in a step
  double critical_batch = std::numeric_limits<double>::quiet_NaN();  ///< not a number where it is not known
  /// In the unit of the kind; not a number where it is not known.
  double of(spec::SizeKind kind) const;
};

/// A network of the family.
struct StudiedRung {
  std::vector<std::pair<std::string, std::string>> changes;  ///< path and value
  std::string learned_on;
  StudiedSize size;
  bool held_out = false;                     ///< left out of the first fit
  estimate::StepsToTarget gradient_sharing;  ///< by seed
};

/// What a run came to on one rung.
struct StudiedRatio {
  estimate::StepsToTarget steps;            ///< by seed
  std::optional<estimate::Estimate> ratio;  ///< relative steps with 95 %
  std::optional<Statement> why_not;         ///< where there are none
  /// Where it did not reach the target and gradient sharing did: the relative steps are more than this, as far as it
  /// was trained.
  std::optional<double> more_than;
  double seed_variance = 0;                             ///< of the logarithm of the ratio
  std::optional<estimate::LadderPrediction> predicted;  ///< of a rung that was held out, by the rungs that were not
  /// Whether what was seen lies in the interval predicted; none: nothing was predicted, or it cannot be told.
  std::optional<bool> held;
};

struct StudiedRun {
  std::string label, algorithm;
  bool as_many_by_definition = false;   ///< it learns what gradient sharing does, up to rounding
  std::vector<StudiedRatio> rungs;      ///< as those of the report
  std::optional<estimate::Ladder> fit;  ///< of all rungs that have relative steps
  std::optional<Statement> why_no_fit;
  std::optional<estimate::LadderPrediction> workload;  ///< what is expected of it
  std::optional<Statement> why_no_workload;
  spec::ParameterValues set;  ///< its parameters and compressor, as far as they are the same on all rungs
};

/// What `dadsim scale-study` has found.
struct ScaleStudyReport : ReportHead {
  std::vector<spec::SizeKind> against;
  double level = 0.9;
  double target_accuracy = 0;
  std::int64_t seeds = 0;
  std::vector<StudiedRung> rungs;
  std::vector<StudiedRun> runs;  ///< without gradient sharing
  std::string workload;          ///< that is timed; empty: none
  StudiedSize workload_size;
};

/// Of predictions of rungs that were held out.
struct HeldOutCount {
  std::int64_t cases = 0;      ///< of which it can be told
  std::int64_t held = 0;       ///< of these, in the interval
  std::int64_t undecided = 0;  ///< that did not reach the target within the budget, and might lie in the interval
};
HeldOutCount held_out_of(const ScaleStudyReport& report);

/// Every member is documented in docs/scale-study.md.
Document document_of(const ScaleStudyReport& report);

}  // namespace dadsim::report
