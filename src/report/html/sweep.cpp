#include "report/html/sweep.hpp"

#include "report/html/about.hpp"
#include "report/html/page.hpp"

namespace dadsim::report {

std::string to_html(const SweepReport& report) {
  const About about{.scenario = report.scenario, .build = report.build};
  return make_page(PageKind::sweep,
                   {report.scenario_name, verdict(report), to_json(report), {}, {{"about", to_json(about)}}});
}

}  // namespace dadsim::report
