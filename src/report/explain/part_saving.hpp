#pragma once

#include <optional>
#include <string>

#include "report/explain/explanation.hpp"
#include "report/run/causes.hpp"

namespace dadsim::report {

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
