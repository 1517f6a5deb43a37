#include "report/html/document.hpp"

#include <algorithm>

#include "report/document/document_json.hpp"
#include "report/html/page.hpp"

namespace dadsim::report {
namespace {

/// Tables and statements in words, for pages without scripts of their own.
std::string parts_in_words(const Document& document) {
  Json parts = Json::array();
  for (const DocumentPart& part : document.parts) {
    if (part.shown == Shown::never) continue;
    if (const auto* statements = std::get_if<std::vector<Statement>>(&part.what)) {
      parts.push_back({{"sentences", in_words(*statements)}});
    } else if (const DocumentTable* table = std::get_if<DocumentTable>(&part.what)) {
      Json columns = Json::array();
      Json rows = Json::array();
      for (const DocumentTable::Head& head : table->columns)
        if (!head.title.empty()) columns.push_back(head.title);
      for (const auto& row : table->rows) {
        if (row.size() < table->columns.size()) continue;
        Json& cells = rows.emplace_back(Json::array());
        for (std::size_t i = 0; i < row.size(); ++i)
          if (!table->columns[i].title.empty()) cells.push_back(row[i].words);
      }
      parts.push_back({{"heading", part.heading.empty() ? part.name : part.heading},
                       {"columns", std::move(columns)},
                       {"rows", std::move(rows)}});
    }
  }
  return one_line(parts) + '\n';
}

}  // namespace

std::string to_html(const Document& document, const About& about) {
  std::vector<std::pair<std::string, std::string>> more;
  for (const DocumentPart& part : document.parts)
    if (part.page_alone) more.emplace_back(part.name, one_line(in_json(part)) + '\n');
  if (std::ranges::none_of(more, [](const auto& one) { return one.first == "about"; }))
    more.emplace_back("about", to_json(about));
  if (document.page == PageKind::document) more.emplace_back("parts", parts_in_words(document));
  return make_page(document.page,
                   {document.head.scenario_name, verdict(document), one_line(in_json(document)) + '\n', {}, more});
}

}  // namespace dadsim::report
