#include "report/html/plan.hpp"

#include "report/html/page.hpp"

namespace dadsim::report {

std::string to_html(const PlanReport& report, const About& about) {
  return make_page(PageKind::plan,
                   {report.scenario_name, verdict(report), to_json(report), {}, {{"about", to_json(about)}}});
}

}  // namespace dadsim::report
