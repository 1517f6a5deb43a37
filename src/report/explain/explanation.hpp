#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/document/document.hpp"
#include "report/run/answer.hpp"
#include "report/run/causes.hpp"
#include "report/run/result.hpp"
#include "report/words/statement.hpp"

namespace dadsim::report {

/// What a run would take with something changed.
struct Effect {
  double step_seconds = 0;               ///< mean
  std::optional<double> target_seconds;  ///< none if the target is not reached
};

/// Something changed, and all runs timed again.
struct WhatIf {
  enum class Kind { bandwidth, latency, device, batch, overlap, framework, limit };
  Kind kind = Kind::bandwidth;
  std::string on;     ///< links, devices; empty where it is of the whole
  double factor = 1;  ///< of speed: 2 is twice the bandwidth, half the latency, twice as fast, twice the batch
  Statement change;   ///< "twice the bandwidth of 5 links of 100 Mbit/s (hospital-1_up …)"
  std::optional<Statement> assumption = {};  ///< what is taken for granted
  std::vector<Effect> effects = {};          ///< per run
};
const char* to_string(WhatIf::Kind kind);
/// The change, and in brackets what is taken for granted.
std::string in_words(const WhatIf& what_if);

/// Why the runs take what they take, and what would help.
struct Explanation {
  Result result;
  std::vector<WhatIf> what_ifs;
  std::int64_t links_left_out = 0;  ///< that were changed only together with others: the less busy ones
  std::vector<Statement> notes;     ///< what was not tried, and how the rest was
};

/// The share of a run's time that a what-if saves: of the time to the target where both reach it, else of the step.
double saving_of(const Explanation& explanation, std::size_t run, const WhatIf& what_if);

/// So many of them are named.
inline constexpr std::size_t kMostUseful = 3;

/// The what-ifs that save the most of a run's time to the target (of its step where the target is not reached), the
/// most useful first, without limits, other batches (whose steps are a guess) and what saves less than a hundredth; at
/// most `count`. Of bandwidths and of latencies only the best stands; all links together only where no part of them
/// saves nearly as much.
std::vector<const WhatIf*> most_useful(const Explanation& explanation, std::size_t run, std::size_t count);

/// The run that the headline is of: the quickest that shares; where none has a time, the first that takes steps.
std::size_t headline_run(const Result& result, const Answer& answer);
/// Who is first, what its step went into, and what would help it most.
std::vector<Statement> headline_of(const Explanation& explanation, const Answer& answer);

/// Per run the change that helps it most; then its critical path, all changes, and the three most useful ones.
/// Every member is documented in docs/explain.md.
Document document_of(const Explanation& explanation);

/// Of the time: a change by less than this says nothing.
inline constexpr double kLeastSaving = 0.001;

/// What making a part of a run's critical path twice as fast really saves. A critical path says what was waited for,
/// not what there would be to wait for instead.
struct PartSaving {
  const WhatIf* what_if = nullptr;  ///< the change that was tried; null: none
  double saving = 0;                ///< share of the run's time; below 0 it takes longer
  bool with_others = false;         ///< the part is one link, and was changed together with all of its kind alone
  /// Why it saves less than a quarter of what the part's share lets one hope for, half of it; none where it does not.
  std::optional<Statement> why_not;
  /// Why it saves clearly more than half of what it speeds up takes of the critical path; none where it does not.
  std::optional<Statement> why_more;
};

PartSaving saving_of_part(const Explanation& explanation, std::size_t run, const Cause& cause, const Cause::Part& part);

}  // namespace dadsim::report
