#pragma once

#include <string>

#include "report/html/page.hpp"
#include "report/run/result.hpp"
#include "report/run/retiming.hpp"
#include "scenario/scenario.hpp"

namespace dadsim::cli {

/// The page of a run, with all that belongs into one: the same for `--report` and inside the pages of lessons. Where
/// the platform cannot be drawn the page is without a picture, which is said unless `quiet`. Throws Cancelled.
std::string run_page(const scenario::Scenario& scenario, const report::Result& result, const report::Retiming& retiming,
                     const report::About& about, bool quiet);

}  // namespace dadsim::cli
