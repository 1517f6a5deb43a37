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
  double step_seconds = 0;               ///< seconds, mean
  std::optional<double> target_seconds;  ///< nothing if the target is not reached
  estimate::Band band = {};  ///< factors on the ratio to the unchanged step; common errors cancel (ratio_band)
};

/// A change, with new timings of all runs.
struct WhatIf {
  enum class Kind { bandwidth, latency, device, batch, overlap, framework, limit };
  Kind kind = Kind::bandwidth;
  std::string on;     ///< links or devices; empty: the whole
  double factor = 1;  ///< factor of speed: 2 is twice the bandwidth, half the latency, twice as fast, twice the batch
  Statement change;   ///< "twice the bandwidth of 5 links of 100 Mbit/s (hospital-1_up …)"
  std::optional<Statement> assumption = {};  ///< assumption about the change
  std::vector<Effect> effects = {};          ///< one per run
};
const char* to_string(WhatIf::Kind kind);
/// Returns the change, and its assumption in brackets.
std::string in_words(const WhatIf& what_if);

/// The causes of the runs' times, and helpful changes.
struct Explanation {
  Result result;
  std::vector<WhatIf> what_ifs;
  std::int64_t links_left_out = 0;  ///< less busy links that were changed only with others
  std::vector<Statement> notes;     ///< untried changes, and methods used for the others
};

/// Returns the share of a run's time that a what-if saves: to the target if both reach it, else per step.
double saving_of(const Explanation& explanation, std::size_t run, const WhatIf& what_if);

/// Returns the least and the most that a what-if saves, with nine measurements of ten between them.
std::pair<double, double> saving_between(const Explanation& explanation, std::size_t run, const WhatIf& what_if);

/// Most what-ifs that are named.
inline constexpr std::size_t kMostUseful = 3;

/// Returns the what-ifs that save most of a run's time to the target (or of its step, if it misses the target), the
/// most useful first; at most `count`. Limits, other batches (whose steps are a guess) and savings below a hundredth
/// are left out. Only the best change of bandwidth and of latency is kept. The change of all links is kept only if no
/// change of some links saves nearly as much.
std::vector<const WhatIf*> most_useful(const Explanation& explanation, std::size_t run, std::size_t count);

/// Returns the run of the headline: the quickest that shares; if none has a time, the first that takes steps.
std::size_t headline_run(const Result& result, const Answer& answer);
/// Returns the quickest run, the causes of its step, and the most useful change.
std::vector<Statement> headline_of(const Explanation& explanation, const Answer& answer);

/// Returns a document with the most useful change per run, then its critical path, all changes, and the three most
/// useful ones. docs/explain.md documents every member.
Document document_of(const Explanation& explanation);

/// Share of the time below which a saving is ignored.
inline constexpr double kLeastSaving = 0.001;

/// Simulated saving when a part of a run's critical path becomes twice as fast. A critical path shows causes of
/// waiting, not the causes that would replace them.
struct PartSaving {
  const WhatIf* what_if = nullptr;  ///< change that was tried; null: none
  double saving = 0;                ///< share of the run's time; negative: it takes longer
  bool with_others = false;         ///< true: the part is one link, changed only together with all of its kind
  /// Reason why a saving is below a quarter of half the part's share; nothing if it is not.
  std::optional<Statement> why_not;
  /// Reason why a saving is clearly above half the part's share; nothing if it is not.
  std::optional<Statement> why_more;
};

PartSaving saving_of_part(const Explanation& explanation, std::size_t run, const Cause& cause, const Cause::Part& part);

}  // namespace dadsim::report
