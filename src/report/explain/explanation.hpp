#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "estimate/bands.hpp"
#include "report/document/document.hpp"
#include "report/run/answer.hpp"
#include "report/run/causes.hpp"
#include "report/run/result.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {

/// Times of a run after a change.
struct Effect {
  double step_seconds = 0;               ///< mean seconds of a step
  std::optional<double> target_seconds;  ///< seconds to the target; nothing if it is not reached
  estimate::Band band = {};  ///< factors on the ratio to the unchanged step, without common errors (ratio_band)
};

/// A change of the scenario, with the timings of all runs.
struct WhatIf {
  enum class Kind { bandwidth, latency, device, batch, overlap, framework, limit };
  Kind kind = Kind::bandwidth;
  std::string on;     ///< changed links ("*": all links), device, framework, or what has no limit; empty: a setting of
                      ///< the step
  double factor = 1;  ///< improvement: 2 is twice the bandwidth, half the latency, twice the speed or the batch
  Statement change;   ///< the change in words: "twice the bandwidth of 5 links of 100 Mbit/s (hospital-1_up …)"
  std::optional<Statement> assumption = {};  ///< assumption about the change
  std::vector<Effect> effects = {};          ///< one effect per run
};
const char* to_string(WhatIf::Kind kind);
/// Returns the change in words, with its assumption in brackets.
std::string in_words(const WhatIf& what_if);

/// The causes of the runs' times, and the effects of changes.
struct Explanation {
  Result result;
  std::vector<WhatIf> what_ifs;
  std::int64_t links_left_out = 0;  ///< number of less busy links that were changed only together with others
  std::vector<Statement> notes;     ///< changes that were not tried, and the methods of the others
};

/// Returns the share of a run's time that a what-if saves: of the time to the target if both reach it, else of a step.
double saving_of(const Explanation& explanation, std::size_t run, const WhatIf& what_if);

/// Returns the least and the most that a what-if saves; nine measurements of ten lie between them.
std::pair<double, double> saving_between(const Explanation& explanation, std::size_t run, const WhatIf& what_if);

/// Largest number of what-ifs named in an answer.
inline constexpr std::size_t kMostUseful = 3;

/// Returns at most `count` what-ifs, those with the largest savings first. A saving is a share of the run's time to the
/// target, or of its step if it misses the target. Leaves out limits, other batches (whose number of steps is a guess)
/// and savings below a hundredth. Keeps only the best change of bandwidth and of latency. Keeps the change of all links
/// only if no change of some links saves nearly as much.
std::vector<const WhatIf*> most_useful(const Explanation& explanation, std::size_t run, std::size_t count);

/// Returns the index of the run in the headline: the quickest that communicates; if none has a time, the first that
/// takes steps.
std::size_t headline_run(const Result& result, const Answer& answer);
/// Returns statements on the quickest run, the causes of its step, and the most useful change.
std::vector<Statement> headline_of(const Explanation& explanation, const Answer& answer);

/// Returns a document with the most useful change per run, then its critical path, all changes, and the three most
/// useful ones. docs/explain.md documents every member.
Document document_of(const Explanation& explanation);

/// Share of the time below which a saving is ignored.
inline constexpr double kLeastSaving = 0.001;

/// Simulated saving if a part of a run's critical path becomes twice as fast. A critical path shows causes of waiting,
/// but not the causes that would replace them.
struct PartSaving {
  const WhatIf* what_if = nullptr;  ///< the change tried; null: none
  double saving = 0;                ///< share of the run's time; negative: the run gets slower
  bool with_others = false;         ///< true: the part is one link, changed only together with its kind
  /// Reason for a saving below a quarter of half the part's share; nothing for larger savings.
  std::optional<Statement> why_not;
  /// Reason for a saving clearly above half the part's share; nothing for smaller savings.
  std::optional<Statement> why_more;
};

PartSaving saving_of_part(const Explanation& explanation, std::size_t run, const Cause& cause, const Cause::Part& part);

}  // namespace dadsim::report
