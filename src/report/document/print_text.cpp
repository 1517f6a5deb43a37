#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/document/document.hpp"
#include "report/text/amounts.hpp"
#include "report/text/text_blocks.hpp"
#include "support/human.hpp"
#include "support/shell_word.hpp"

namespace dadsim::report {
namespace {

std::string number_in_words(double value, Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return human_seconds(value);
    case Unit::bytes:
      return human_bytes(value);
    case Unit::share:
      return human_percent(value);
    case Unit::signed_share:
      return fmt::format("{:+.1f} %", 100 * value);
    case Unit::rate:
      return rate_in_words(value);
    case Unit::count:
      return human_count(static_cast<std::int64_t>(value));
    case Unit::plain:
    case Unit::text:
      break;
  }
  return fmt::format("{}", value);
}

std::string grid_of(const DocumentTable& table, bool verbose) {
  std::vector<std::vector<std::string>> lines(1);
  std::vector<std::size_t> titled;
  GridStyle style = table.style;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const DocumentTable::Head& head = table.columns[i];
    if (head.title.empty() || !head.in_text) continue;
    if (head.left) style.left.push_back(titled.size());
    titled.push_back(i);
    lines[0].push_back(head.title);
  }
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].size() < table.columns.size()) continue;
    if (!verbose && std::ranges::find(table.detail, i) != table.detail.end()) continue;
    std::vector<std::string>& line = lines.emplace_back();
    for (const std::size_t column : titled) line.push_back(table.rows[i][column].words);
  }
  return lines.size() > 1 && !titled.empty() ? report::grid(std::move(lines), style) : std::string();
}

std::string text_of(const DocumentPart& part, bool verbose) {
  std::string text;
  if (const DocumentTable* table = std::get_if<DocumentTable>(&part.what)) {
    text = grid_of(*table, verbose);
    if (!text.empty() && !part.heading.empty()) text = '\n' + part.heading + '\n' + text;
  } else if (const auto* statements = std::get_if<std::vector<Statement>>(&part.what)) {
    for (const Statement& one : *statements) text += paragraph(in_words(one));
  } else if (const auto* best = std::get_if<BestSettings>(&part.what)) {
    std::string options;
    for (const std::string& one : best->set) options += " --set " + shell_word(one);
    text = '\n' + paragraph("To use it:" + options);
  }
  return text + part.text;
}

/// Returns the number of assumptions in words; with `verbose`, the assumptions and the model of the network.
std::string background_of(const ReportHead& head, bool verbose) {
  const std::size_t count = head.assumptions.size();
  if (!verbose && count == 0) return {};
  if (!verbose)
    return paragraph(
        fmt::format("Based on {} assumption{} and a model of the network (--verbose; also in --json and --report).",
                    count, count == 1 ? "" : "s"));
  std::string text;
  for (const std::string& assumption : in_words(head.assumptions)) text += paragraph("Assumed: " + assumption);
  return head.network_model.empty() ? text : text + paragraph("Network model: " + head.network_model);
}

}  // namespace

std::string in_words(const DocumentValue& value, Unit unit) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return unit == Unit::plain ? fmt::format("{}", *whole) : number_in_words(static_cast<double>(*whole), unit);
  }
  if (const auto* count = std::get_if<std::uint64_t>(&value)) return in_words(static_cast<std::int64_t>(*count), unit);
  if (const auto* number = std::get_if<double>(&value)) return number_in_words(*number, unit);
  return "–";
}

std::string verdict(const Document& document) {
  if (document.answer.empty()) return fmt::format("{}", fmt::join(document.lead, " "));
  std::vector<Statement> said = document.answer;
  if (document.sentences > 0) said.resize(std::min(said.size(), document.sentences), said.front());
  return as_paragraph(said);
}

Summary summary_of(const Document& document, bool verbose) {
  Summary summary;
  if (document.lead.empty() && !document.answer.empty()) summary.answer = paragraph(verdict(document));
  for (const std::string& one : document.lead) summary.answer += paragraph(one);
  for (const DocumentPart& part : document.parts) {
    if (part.shown == Shown::always || part.shown == (verbose ? Shown::verbose : Shown::brief))
      (part.background ? summary.background : summary.body) += text_of(part, verbose);
  }
  if (std::ranges::none_of(document.parts, &DocumentPart::background))
    summary.background = background_of(document.head, verbose);
  return summary;
}

}  // namespace dadsim::report
