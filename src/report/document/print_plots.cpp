#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "report/document/document.hpp"

namespace dadsim::report {
namespace {

/// Characters that are commands in LaTeX, or are missing in its default fonts, with their replacements.
constexpr auto kInLatex = std::to_array<std::pair<std::string_view, std::string_view>>({{"\\", "\\textbackslash{}"},
                                                                                        {"{", "\\{"},
                                                                                        {"}", "\\}"},
                                                                                        {"$", "\\$"},
                                                                                        {"&", "\\&"},
                                                                                        {"%", "\\%"},
                                                                                        {"#", "\\#"},
                                                                                        {"_", "\\_"},
                                                                                        {"~", "\\textasciitilde{}"},
                                                                                        {"^", "\\textasciicircum{}"},
                                                                                        {"<", "$<$"},
                                                                                        {">", "$>$"},
                                                                                        {"|", "$|$"},
                                                                                        {"\"", "''"},
                                                                                        {"\u00a0", "~"},
                                                                                        {"–", "--"},
                                                                                        {"—", "---"},
                                                                                        {"…", "\\ldots{}"},
                                                                                        {"×", "$\\times$"},
                                                                                        {"÷", "$\\div$"},
                                                                                        {"±", "$\\pm$"},
                                                                                        {"−", "$-$"},
                                                                                        {"·", "$\\cdot$"},
                                                                                        {"→", "$\\to$"},
                                                                                        {"≤", "$\\leq$"},
                                                                                        {"≥", "$\\geq$"},
                                                                                        {"µ", "$\\mu$"},
                                                                                        {"ε", "$\\varepsilon$"},
                                                                                        {"δ", "$\\delta$"},
                                                                                        {"σ", "$\\sigma$"},
                                                                                        {"²", "$^2$"},
                                                                                        {"₂", "$_2$"},
                                                                                        {"✓", "$\\surd$"},
                                                                                        {"✗", "$\\times$"},
                                                                                        {"½", "1/2"},
                                                                                        {"“", "``"},
                                                                                        {"”", "''"}});

std::string in_latex(std::string_view text) {
  std::string latex;
  while (!text.empty()) {
    const auto known = std::ranges::find_if(kInLatex, [&](const auto& one) { return text.starts_with(one.first); });
    if (known != kInLatex.end()) {
      latex += known->second;
      text.remove_prefix(known->first.size());
    } else {
      latex += static_cast<unsigned char>(text.front()) < ' ' ? ' ' : text.front();
      text.remove_prefix(1);
    }
  }
  return latex;
}

/// Returns the table as a `tabular` that needs no packages; empty if it has no columns for people.
std::string latex_of(const DocumentTable& table, const std::string& caption) {
  std::string columns, head, body;
  for (const DocumentTable::Head& one : table.columns) {
    if (one.title.empty() || !one.in_text) continue;
    head +=
        (columns.empty() ? "" : " & ") + in_latex(std::string_view(one.title).substr(one.title.find_first_not_of(' ')));
    columns += one.left || columns.empty() || table.style.prose ? 'l' : 'r';
  }
  for (const std::vector<DocumentTable::Cell>& row : table.rows) {
    if (row.size() < table.columns.size()) continue;
    std::string cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (table.columns[i].title.empty() || !table.columns[i].in_text) continue;
      const std::size_t first = std::min(row[i].words.find_first_not_of(' '), row[i].words.size());
      cells += (cells.empty() ? "" : " & ") + in_latex(row[i].words.substr(first));
      if (cells.empty()) cells = "~";
    }
    body += cells + " \\\\\n";
  }
  if (columns.empty() || body.empty()) return {};
  std::string comment;
  for (const char c : caption) comment += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  return fmt::format("% {}\n\\begin{{tabular}}{{{}}}\n\\hline\n{} \\\\\n\\hline\n{}\\hline\n\\end{{tabular}}\n",
                     comment, columns, head, body);
}

/// Converts a name to a file name of lower-case letters, digits and hyphens: "rank-dad-cap-16" for "rank-dad (cap 16)".
std::string file_name_of(std::string_view name) {
  constexpr std::size_t kMost = 60;
  std::string file;
  for (const char c : name.substr(0, kMost)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (plain || (c >= 'A' && c <= 'Z'))
      file += static_cast<char>(plain ? c : c - 'A' + 'a');
    else if (!file.empty() && file.back() != '-')
      file += '-';
  }
  while (!file.empty() && file.back() == '-') file.pop_back();
  return file.empty() ? "chart" : file;
}

}  // namespace

std::vector<PlotFile> plots_of(const Document& document) {
  std::vector<PlotFile> files;
  const auto unused = [&](const std::string& wanted) {
    std::string name = wanted;
    const auto taken = [&] { return std::ranges::find(files, name + ".csv", &PlotFile::name) != files.end(); };
    for (int i = 2; taken(); ++i) name = fmt::format("{}-{}", wanted, i);
    return name;
  };
  for (Chart chart : document.charts) {
    chart.name = unused(file_name_of(chart.name));
    files.push_back({chart.name + ".svg", to_svg(chart)});
    files.push_back({chart.name + ".csv", to_csv(chart)});
  }
  for (const DocumentPart& part : document.parts) {
    const DocumentTable* table = std::get_if<DocumentTable>(&part.what);
    if (table == nullptr || part.shown == Shown::never || part.page_alone) continue;
    const std::string& title = part.heading.empty() ? part.name : part.heading;
    const std::string latex = latex_of(*table, title.empty() ? document.head.scenario_name : title);
    if (latex.empty()) continue;
    const std::string name = unused(file_name_of(part.name.empty() ? "table" : part.name));
    files.push_back({name + ".tex", latex});
    files.push_back({name + ".csv", to_csv(*table)});
  }
  return files;
}

}  // namespace dadsim::report
