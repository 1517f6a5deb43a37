#pragma once

#include "report/layout/layout_report.hpp"

namespace dadsim::study {

/// What a simulated step went into: what is not computing is divided as the closed form has it.
report::StepParts parts_of(const report::RunResult& run, const report::StepParts& estimate);

/// The trials of a report by their time, the front of time against memory, and how many cannot be told apart from the
/// first (estimate::ratio_band).
void rank_trials(report::LayoutReport& report);

}  // namespace dadsim::study
