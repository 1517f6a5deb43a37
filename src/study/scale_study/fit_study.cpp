#include "study/scale_study/fit_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>

#include "estimate/critical_batch.hpp"
#include "study/setting/network_size.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

using report::ScaleStudyReport;
using report::StudiedRatio;
using report::StudiedRun;
using report::StudiedRung;

double mean_between(const estimate::StepsToTarget& steps) {
  double sum = 0;
  for (const auto& one : steps) {
    if (!one) return std::numeric_limits<double>::quiet_NaN();
    sum += one->between / static_cast<double>(steps.size());
  }
  return sum;
}

/// From gradient sharing's own steps, for each number of parameters with two batches or more that reach the target.
void add_critical_batches(ScaleStudyReport& report) {
  std::map<double, std::vector<estimate::StepsAtBatch>> by_size;
  for (const StudiedRung& rung : report.rungs) {
    const double steps = mean_between(rung.gradient_sharing);
    if (steps > 0) by_size[rung.size.parameters].push_back({static_cast<double>(rung.size.batch), steps});
  }
  for (StudiedRung& rung : report.rungs) {
    if (const auto law = fit_batch_law(by_size[rung.size.parameters])) rung.size.critical_batch = law->critical;
  }
}

/// The largest sizes of the first kind.
void hold_out_largest(std::int64_t count, ScaleStudyReport& report) {
  std::set<double, std::greater<>> sizes;
  for (const StudiedRung& rung : report.rungs) {
    const double size = rung.size.of(report.against.front());
    if (std::isfinite(size)) sizes.insert(size);
  }
  auto end = sizes.begin();
  for (std::int64_t i = 0; i < count && end != sizes.end(); ++i) ++end;
  for (StudiedRung& rung : report.rungs)
    rung.held_out = std::find(sizes.begin(), end, rung.size.of(report.against.front())) != end;
}

/// Rungs of a run that have relative steps and a size; those that are held out too, or not.
std::vector<estimate::Rung> usable_rungs(const ScaleStudyReport& report, const StudiedRun& run, bool with_held_out) {
  std::vector<estimate::Rung> rungs;
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    const StudiedRatio& at = run.rungs[i];
    std::vector<double> size = decades_of(report.rungs[i].size, report.against);
    if (!at.ratio || !(at.ratio->value > 0) || !are_known(size) || (report.rungs[i].held_out && !with_held_out))
      continue;
    rungs.push_back({std::move(size), at.ratio->value, at.seed_variance});
  }
  return rungs;
}

/// None where there are too few rungs, or those that there are hardly differ.
std::optional<estimate::Ladder> ladder_of(std::vector<estimate::Rung> rungs) {
  if (rungs.size() < 3 || rungs.size() < rungs.front().size.size() + 2) return std::nullopt;
  try {
    return estimate::Ladder(std::move(rungs));
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

void predict_held_out(const ScaleStudyReport& report, StudiedRun& run) {
  if (std::ranges::none_of(report.rungs, &StudiedRung::held_out)) return;
  const std::optional<estimate::Ladder> ladder = ladder_of(usable_rungs(report, run, false));
  if (!ladder) return;
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    StudiedRatio& at = run.rungs[i];
    const std::vector<double> size = decades_of(report.rungs[i].size, report.against);
    if (!report.rungs[i].held_out || !are_known(size) || (!at.ratio && !at.more_than)) continue;
    at.predicted = ladder->at(size, report.level);
    if (at.ratio) {
      at.held = at.predicted->low <= at.ratio->value && at.ratio->value <= at.predicted->high;
    } else if (*at.more_than > at.predicted->high) {
      at.held = false;
    }
  }
}

/// That the largest sizes do not reach the target, where it is so.
std::optional<Statement> never_reached(const ScaleStudyReport& report, const StudiedRun& run) {
  double missed = 0;
  double reached = 0;
  for (std::size_t i = 0; i < run.rungs.size(); ++i) {
    const double size = report.rungs[i].size.parameters;
    if (run.rungs[i].more_than) missed = std::max(missed, size);
    if (run.rungs[i].ratio) reached = std::max(reached, size);
  }
  if (!(missed > reached)) return {};
  return Statement{"sizes-miss-target"}.with("parameters", missed);
}

void expect_of_workload(const ScaleStudyReport& report, StudiedRun& run) {
  if (report.workload.empty()) return;
  if (run.as_many_by_definition) {
    run.workload = estimate::LadderPrediction{};
    return;
  }
  if (!run.fit) {
    run.why_no_workload = run.why_no_fit;
    return;
  }
  if (run.why_no_workload = never_reached(report, run); run.why_no_workload) return;
  const std::vector<double> size = decades_of(report.workload_size, report.against);
  if (!are_known(size)) {
    run.why_no_workload = Statement{"size-unknown"};
    return;
  }
  run.workload = run.fit->at(size, report.level);
}

}  // namespace

void fit_study(const scenario::Scenario& scenario, report::ScaleStudyReport& report) {
  add_critical_batches(report);
  hold_out_largest(scenario.scale_study->hold_out, report);
  for (StudiedRun& run : report.runs) {
    if (!run.as_many_by_definition) {
      predict_held_out(report, run);
      run.fit = ladder_of(usable_rungs(report, run, true));
      if (!run.fit) {
        run.why_no_fit = Statement{"too-few-rungs"}
                             .with("rungs", static_cast<double>(usable_rungs(report, run, true).size()))
                             .with("needed", static_cast<double>(std::max<std::size_t>(3, report.against.size() + 2)));
      }
    }
    expect_of_workload(report, run);
  }
}

void check_sizes(const scenario::Scenario& scenario, report::ScaleStudyReport report) {
  hold_out_largest(scenario.scale_study->hold_out, report);
  for (const bool with_held_out : {true, false}) {
    std::vector<estimate::Rung> rungs;
    for (StudiedRung& rung : report.rungs) {
      rung.size.critical_batch = 1;  // fitted later, to steps at several batches
      if (with_held_out || !rung.held_out) rungs.push_back({decades_of(rung.size, report.against), 1, 0});
    }
    if (rungs.size() < report.against.size() + 2) continue;  // sizes occur several times: nothing is predicted
    try {
      static_cast<void>(estimate::Ladder(std::move(rungs)));
    } catch (const std::invalid_argument& error) {
      throw InputError({scenario.file, scenario.scale_study->rungs.axes.front().front().line,
                        fmt::format("the sizes of <scale-study>{} tell nothing: {}",
                                    with_held_out ? "" : " without those that are left out", error.what()),
                        "paths that change the size, and fewer kinds of it in against=\"…\""});
    }
  }
}

}  // namespace dadsim::study
