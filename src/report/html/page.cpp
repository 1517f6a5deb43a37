#include "report/html/page.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "report/document/document_json.hpp"
#include "report/html/markdown.hpp"
#include "report/html/page_text.hpp"
#include "report/text/escape.hpp"
#include "report/text/json_values.hpp"
#include "support/shell_word.hpp"

namespace dadsim::report {
namespace {

/// Returns JSON of the tables and statements in words, which a page shows in addition to its result and charts.
std::string document_in_words(const Document& document) {
  Json parts = Json::array();
  for (const DocumentPart& part : document.parts) {
    if (part.shown == Shown::never || part.page_alone) continue;
    if (part.shown == Shown::page && !part.text.empty()) parts.push_back({{"sentences", Json::array({part.text})}});
    if (const auto* statements = std::get_if<std::vector<Statement>>(&part.what)) {
      parts.push_back({{"sentences", in_words(*statements)}});
    } else if (const auto* best = std::get_if<BestSettings>(&part.what)) {
      Json set = Json::array();
      for (const std::string& one : best->set) set.push_back(shell_word(one));
      parts.push_back({{"set", std::move(set)}});
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
      parts.push_back({{"name", part.name},
                       {"heading", part.heading.empty() ? part.name : part.heading},
                       {"columns", std::move(columns)},
                       {"rows", std::move(rows)},
                       {"first", table->best_first ? 0 : -1}});
    }
  }
  return one_line(Json{{"setting", document.setting}, {"facts", document.facts}, {"parts", std::move(parts)}}) + '\n';
}

const char* name_of(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return "seconds";
    case Unit::bytes:
      return "bytes";
    case Unit::share:
    case Unit::signed_share:
      return "share";
    case Unit::count:
      return "count";
    case Unit::plain:
    case Unit::text:
    case Unit::rate:
      break;
  }
  return "number";
}

Json in_json(const ChartAxis& axis) {
  return {{"title", axis.title},
          {"kind", name_of(axis.unit)},
          {"suffix", axis.suffix},
          {"log", axis.logarithmic},
          {"fromLeast", axis.from_least}};
}

Json in_json(const Chart& chart) {
  Json series = Json::array(), limits = Json::array();
  for (const ChartSeries& one : chart.series) {
    Json points = Json::array();
    for (const ChartPoint& point : one.points)
      points.push_back(
          {number(point.x), number(point.y), report::in_json(point.low), report::in_json(point.high), point.words});
    series.push_back(
        {{"label", one.label}, {"part", one.part}, {"marksOnly", one.marks_only}, {"points", std::move(points)}});
  }
  for (const ChartLimit& one : chart.limits)
    limits.push_back({{"at", number(one.at)}, {"words", one.words}, {"ofX", one.of_x}});
  constexpr std::array kKinds{"lines", "bars", "stacked"};
  return {{"title", chart.title},       {"above", chart.above},
          {"choice", chart.choice},     {"kind", kKinds.at(static_cast<std::size_t>(chart.kind))},
          {"x", in_json(chart.x)},      {"y", in_json(chart.y)},
          {"names", chart.names},       {"series", std::move(series)},
          {"limits", std::move(limits)}};
}

/// Returns JSON of the charts drawn by the page's shared script, by name; empty if there are none.
std::string charts_for_page(const Document& document) {
  Json charts = Json::object();
  for (const Chart& chart : document.charts)
    if (!chart.own_script) charts[chart.name] = in_json(chart);
  return charts.empty() ? std::string() : one_line(charts) + '\n';
}

/// Returns JSON that is safe inside <script>, where "</script" and "<!--" are special in HTML. "<" occurs only in JSON
/// strings, so it can be escaped.
std::string within_script(std::string_view json) {
  std::string text;
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

using Part = std::pair<std::string_view, std::string_view>;

/// Returns the template with a part in place of each {{name}}. Does not search inserted text again, because data may
/// contain braces.
template <std::size_t size>
std::string filled_in(std::string_view page, const std::array<Part, size>& parts) {
  std::string html;
  for (std::size_t at = 0;;) {
    const std::size_t open = page.find("{{", at);
    html += page.substr(at, open - at);
    if (open == std::string_view::npos) return html;
    const std::size_t close = page.find("}}", open);
    if (close == std::string_view::npos) throw std::logic_error("a page has a {{ without }}");
    const std::string_view name = page.substr(open + 2, close - open - 2);
    bool known = false;
    for (const auto& [part, text] : parts) {
      if (part != name) continue;
      html += text;
      known = true;
    }
    if (!known) throw std::logic_error("a page: there is no name " + std::string(name));
    at = close + 2;
  }
}

/// Parts common to pages of one kind.
struct KindParts {
  std::string_view title, sections, script;
};

KindParts parts_of(PageKind kind) {
  switch (kind) {
    case PageKind::document:
      return {{}, kDocumentSections, kDocumentScript};
    case PageKind::run:
      return {"dadsim report", kRunSections, kRunScript};
    case PageKind::sweep:
      return {"dadsim sweep", kSweepSections, kSweepScript};
  }
  throw std::logic_error("a page of unknown kind");
}

DocumentTable object_of(const About& about) {
  DocumentTable table{.object = true};
  TableRow row = table.add_row();
  row.add("description", about.description, "scenario", about.scenario, "set", about.set, "build", about.build);
  const ClassTable& classes = about.classes;
  if (classes.too_many || !classes.sites.empty())
    row.add("classes.too_many", classes.too_many, "classes.sites", classes.sites, "classes.samples", classes.samples);
  return table;
}

}  // namespace

std::string to_html(const Document& document, const About& about) {
  std::string more;
  const auto add = [&](const std::string& id, const std::string& data) {
    if (!data.empty())
      more += "<script type=\"application/json\" id=\"" + id + "\">\n" + within_script(data) + "</script>\n";
  };
  bool has_about = false;
  for (const DocumentPart& part : document.parts) {
    if (part.page_alone) add(part.name, one_line(in_json(part)) + '\n');
    has_about = has_about || part.name == "about";
  }
  if (!has_about) add("about", one_line(in_json(object_of(about))) + '\n');
  add("charts", charts_for_page(document));
  if (document.page != PageKind::sweep) add("document", document_in_words(document));
  const KindParts own = parts_of(document.page);
  const std::string answer = escaped(verdict(document));
  const std::array<Part, 2> of_sections{{{"answer", answer}, {"platform", document.picture}}};
  const std::string sections = filled_in(own.sections, of_sections);
  const std::string title =
      escaped(document.head.scenario_name.empty() ? document.command : document.head.scenario_name);
  const std::string json = within_script(one_line(in_json(document)) + '\n');
  const std::string script = std::string(kSharedScript) + std::string(own.script);
  const std::array<Part, 9> parts{{{"title", title},
                                   {"kind", own.title.empty() ? std::string_view(document.command) : own.title},
                                   {"sections", sections},
                                   {"glossary", glossary_html()},
                                   {"result", json},
                                   {"more", more},
                                   {"style", kStyle},
                                   {"chart.js", kChartJs},
                                   {"script", script}}};
  return filled_in(kPage, parts);
}

}  // namespace dadsim::report
