#pragma once

#include <string>

#include "report/html/page.hpp"
#include "report/run/result.hpp"
#include "report/run/retiming.hpp"
#include "scenario/scenario.hpp"

namespace dadsim::cli {

/// Returns the page of a result, for `--report` and for pages of lessons. If the platform cannot be drawn, the page has
/// no picture, and a message is printed unless `quiet`. Throws Cancelled.
std::string run_page(const scenario::Scenario& scenario, const report::Result& result, const report::Retiming& retiming,
                     const report::About& about, bool quiet);

}  // namespace dadsim::cli
