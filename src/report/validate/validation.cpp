#include "report/validate/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/kendall_tau.hpp"
#include "report/text/grid.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }
std::string half_width_in_words(double half) { return fmt::format("±{:.0f} %", 100 * half); }

std::vector<std::string> line_of(const ValidatedTable& table) {
  const TableFigures figures = figures_of(table);
  const std::string rows = table.left_out == 0 ? fmt::format("{}", figures.rows)
                                               : fmt::format("{} of {}", figures.rows, figures.rows + table.left_out);
  if (figures.rows == 0) return {table.name, rows, "–", "–", "–", "–", "–"};
  return {table.name,
          rows,
          human_percent(figures.mean_error),
          signed_percent(figures.signed_error),
          figures.order ? fmt::format("{:.2f}", *figures.order) : "–",
          fmt::format("{} of {}", figures.inside, figures.rows),
          half_width_in_words(figures.half_width)};
}

std::string rows_of(const ValidatedTable& table) {
  std::vector<std::vector<std::string>> rows{
      {table.name, "devices", "predicted", "9 of 10", "measured", "error", "inside"}};
  std::string refusals;
  for (const ValidatedRow& row : table.rows) {
    if (row.refused) {
      refusals += paragraph(fmt::format("{}: {}:{}: {}", row.name, table.source, row.line, row.refused->what));
      continue;
    }
    rows.push_back({row.name, row.devices > 0 ? fmt::format("{}", row.devices) : "", human_seconds(row.predicted),
                    fmt::format("{} … {}", human_seconds(row.band.low * row.predicted),
                                human_seconds(row.band.high * row.predicted)),
                    human_seconds(row.measured), signed_percent(row.error()), row.inside() ? "yes" : "no"});
  }
  return '\n' + grid(rows, {0, 1, 2, 3, 4, 5, 6}) + refusals;
}

std::string answer_of(const Validation& validation) {
  std::size_t rows = 0;
  std::size_t inside = 0;
  std::size_t refused = 0;
  double error = 0;
  for (const ValidatedTable& table : validation.tables) {
    const TableFigures figures = figures_of(table);
    rows += figures.rows;
    inside += figures.inside;
    refused += figures.refused;
    error += figures.mean_error * static_cast<double>(figures.rows);
  }
  if (rows == 0) return paragraph("Nothing was predicted.");
  std::string text = fmt::format("{} of {} measurements lie in the band of their prediction ({}); mean error {}",
                                 inside, rows, human_percent(static_cast<double>(inside) / static_cast<double>(rows)),
                                 human_percent(error / static_cast<double>(rows)));
  if (refused > 0) text += fmt::format("; {} more {} refused", refused, refused == 1 ? "is" : "are");
  return paragraph(text + ".");
}

}  // namespace

TableFigures figures_of(const ValidatedTable& table) {
  TableFigures figures;
  std::vector<const ValidatedRow*> rows;
  for (const ValidatedRow& row : table.rows) {
    if (!row.refused) rows.push_back(&row);
  }
  figures.rows = rows.size();
  figures.refused = table.rows.size() - rows.size();
  if (rows.empty()) return figures;
  const auto count = static_cast<double>(rows.size());
  double logarithms = 0;
  for (const ValidatedRow* row : rows) {
    figures.mean_error += std::abs(row->error()) / count;
    figures.signed_error += row->error() / count;
    figures.inside += row->inside() ? 1 : 0;
    figures.half_width += (row->band.high - row->band.low) / 2 / count;
    logarithms += std::log(row->measured / row->predicted) / count;
  }
  figures.offset = std::exp(logarithms);
  for (const ValidatedRow* row : rows)
    figures.scatter += std::pow(std::log(row->measured / row->predicted) - logarithms, 2) / std::max(1.0, count - 1);
  figures.scatter = std::sqrt(figures.scatter);
  std::vector<estimate::PredictedMeasured> compared;
  compared.reserve(rows.size());
  for (const ValidatedRow* row : rows) compared.push_back({row->predicted, row->measured});
  figures.order = estimate::kendall_tau(compared);
  return figures;
}

Summary summary_of(const Validation& validation, bool every_row) {
  Summary summary;
  summary.answer = answer_of(validation);
  std::vector<std::vector<std::string>> lines{{"table", "rows", "mean error", "signed", "tau", "in band", "width"}};
  std::size_t left_out = 0;
  for (const ValidatedTable& table : validation.tables) {
    lines.push_back(line_of(table));
    left_out += table.left_out;
  }
  summary.body = grid(lines, {0, 1, 2, 3, 4, 5, 6});
  for (const ValidatedTable& table : validation.tables) {
    if (every_row && !table.rows.empty()) summary.body += rows_of(table);
  }
  for (const ValidatedTable& table : validation.tables) {
    const TableFigures figures = figures_of(table);
    if (!every_row || figures.rows < 2) continue;
    summary.body += paragraph(fmt::format(
        "{}: measured ÷ predicted is {:.2f} in the mean, and rows differ by {} among themselves; a device that is "
        "calibrated on one of them (dadsim calibrate) keeps the second alone.",
        table.name, figures.offset, human_percent(figures.scatter)));
  }
  if (left_out > 0) summary.body += paragraph(fmt::format("{} rows are of more devices: --devices all.", left_out));
  summary.background = paragraph(
      "Errors are predicted ÷ measured − 1; a band holds nine measurements of ten of a table that nobody has seen "
      "(docs/bands.md); its width is half of what lies between its ends.");
  return summary;
}

}  // namespace dadsim::report
