#include "cli/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "cli/graphviz.hpp"
#include "report/html/report.hpp"
#include "sim/platform.hpp"
#include "study/retiming/fit_retiming.hpp"
#include "study/run/experiment.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/terminal.hpp"

namespace dadsim::cli {
namespace {

/// Returns the busy share of each link, by name: the largest over all runs.
std::map<std::string, double> busy_shares(const report::Result& result) {
  std::map<std::string, double> shares;
  for (const report::RunResult& run : result.runs) {
    for (const step::LinkUse& use : run.network.link_use) {
      double& share = shares[use.link];
      share = std::max(share, use.busy_share);
    }
  }
  return shares;
}

/// Returns a picture of the platform as SVG, with the busy shares of its links; empty if drawing fails, and then the
/// page has no picture.
std::string picture_of(const scenario::Scenario& scenario, const report::Result& result, bool quiet) {
  try {
    return draw_svg(find_dot(), sim::to_dot(sim::inspect_platform(scenario.platform), busy_shares(result)));
  } catch (const Cancelled&) {
    throw;
  } catch (const std::runtime_error& error) {
    if (!quiet) say(fmt::format("dadsim: the page has no picture of the platform: {}\n", error.what()));
    return {};
  }
}

}  // namespace

std::string RunPage::html(report::Document document, const report::Result& result) const {
  const report::Retiming retiming =
      sliders ? study::fit_retiming(scenario, learned, result, !quiet) : report::Retiming();
  if (retiming.why_not && retiming.why_not->has("fault") && !quiet)
    say(fmt::format("dadsim: the page has no sliders: {}\n", retiming.why_not->text("fault")));
  add_page_data(document, result, picture_of(scenario, result, quiet), retiming);
  return to_html(document, {.description = scenario.description,
                            .scenario = source.text(),
                            .set = overrides,
                            .classes = study::class_table_of(scenario, learned)});
}

}  // namespace dadsim::cli
