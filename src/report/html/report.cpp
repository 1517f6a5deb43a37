#include "report/html/report.hpp"

#include <string_view>

#include "report/document/document_json.hpp"
#include "report/html/page.hpp"
#include "report/html/pictures.hpp"
#include "report/html/timeline.hpp"
#include "report/run/result_document.hpp"

namespace dadsim::report {
namespace {

/// Without the XML declaration and document type before it, which HTML does not have.
std::string_view from_svg_on(std::string_view picture) {
  const std::size_t start = picture.find("<svg");
  return start == std::string_view::npos ? std::string_view() : picture.substr(start);
}

}  // namespace

std::string to_html(const Result& result, const std::string& platform_svg, const Retiming& retiming,
                    const About& about) {
  const bool fitted = !retiming.runs.empty() || retiming.why_not;
  const Document document = document_of(result);
  return make_page(PageKind::run, {result.scenario_name,
                                   verdict(document),
                                   one_line(in_json(document)) + '\n',
                                   from_svg_on(platform_svg),
                                   {{"retiming", fitted ? to_json(retiming) : ""},
                                    {"timelines", timelines_for_page(result)},
                                    {"pictures", pictures_for_page(result)},
                                    {"about", to_json(about)}}});
}

}  // namespace dadsim::report
