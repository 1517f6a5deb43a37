#pragma once

#include <string>
#include <vector>

#include "report/document/document.hpp"
#include "report/run/result.hpp"
#include "scenario/document/load.hpp"
#include "study/learning/learned.hpp"

namespace dadsim::cli {

/// The input of a run's page next to its result, for `--report` and for pages of lessons.
struct RunPage {
  const scenario::ScenarioSource& source;
  const std::vector<std::string>& overrides;
  const scenario::Scenario& scenario;
  const study::Learned& learned;
  bool sliders = false;  ///< true: changed clusters are timed for sliders
  bool quiet = false;    ///< true: no progress, and no message on a missing picture or missing sliders

  /// Returns the page. If the platform cannot be drawn, the page has no picture. Throws Cancelled.
  std::string html(report::Document document, const report::Result& result) const;
};

}  // namespace dadsim::cli
