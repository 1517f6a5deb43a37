#include "report/html/scale_study.hpp"

#include "report/html/page.hpp"

namespace dadsim::report {

std::string to_html(const ScaleStudyReport& report, const About& about) {
  return make_page(PageKind::scale_study,
                   {report.scenario_name, verdict(report), to_json(report), {}, {{"about", to_json(about)}}});
}

}  // namespace dadsim::report
