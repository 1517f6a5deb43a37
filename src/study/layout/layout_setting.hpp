#pragma once

#include <string>
#include <vector>

#include "report/layout/layout_report.hpp"
#include "scenario/document/load.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "study/layout/candidates.hpp"
#include "study/layout/search_layouts.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// What a search for layouts is about.
struct LayoutSetting {
  scenario::Scenario base;  ///< as it stands; its memory is not checked
  spec::RunSpec run;        ///< whose steps
  TimedAs timed;            ///< the network before anything divides it
  sim::Cluster cluster;
  LayoutSpace space;
  report::Layout written;  ///< the scenario's own
};

/// Throws InputError where the scenario times no workload, its devices differ, or none of its runs takes steps.
LayoutSetting layout_setting(scenario::Scenario base, const LayoutOptions& options);

}  // namespace dadsim::study
