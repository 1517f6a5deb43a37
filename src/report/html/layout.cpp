#include "report/html/layout.hpp"

#include "report/html/page.hpp"

namespace dadsim::report {

std::string to_html(const LayoutReport& report, const About& about) {
  return make_page(
      PageKind::layout,
      {report.scenario_name, as_paragraph(answer_of(report)), to_json(report), {}, {{"about", to_json(about)}}});
}

}  // namespace dadsim::report
