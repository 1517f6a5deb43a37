#include "report/html/sweep.hpp"

#include "report/html/page.hpp"

namespace dadsim::report {

std::string to_html(const SweepReport& report) {
  return make_page(PageKind::sweep, {report.scenario_name, verdict(report), to_json(report)});
}

}  // namespace dadsim::report
