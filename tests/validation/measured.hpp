#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "cli/process.hpp"
#include "estimate/statistics.hpp"

// Compares predictions with measurements. Reads the measured tables (tests/validation), and checks that the tables of
// docs/validation.md and docs/validation/ show the present predictions.

namespace dadsim::test {

inline std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> cells;
  std::stringstream in(line);
  for (std::string cell; std::getline(in, cell, separator);) cells.push_back(cell);
  return cells;
}

/// Returns the rows of tests/validation/`name`.csv as maps from column names. Lines that begin with # give sources and
/// are skipped.
inline std::vector<std::map<std::string, std::string>> measured(const std::string& name) {
  std::ifstream in(std::string(DADSIM_SOURCE_DIR) + "/tests/validation/" + name + ".csv");
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> columns;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const std::vector<std::string> cells = split(line, ',');
    if (columns.empty()) {
      columns = cells;
      continue;
    }
    std::map<std::string, std::string>& row = rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) row[columns[i]] = i < cells.size() ? cells[i] : "";
  }
  return rows;
}

/// A predicted and a measured time, seconds.
using Compared = estimate::PredictedMeasured;

inline double mean_absolute_error(const std::vector<Compared>& rows) {
  double sum = 0;
  for (const Compared& row : rows) sum += std::abs(row.error());
  return sum / static_cast<double>(rows.size());
}

/// Returns exp of the mean of |log(predicted ÷ measured)|, minus one.
inline double geometric_mean_error(const std::vector<Compared>& rows) {
  double sum = 0;
  for (const Compared& row : rows) sum += std::abs(std::log(row.predicted / row.measured));
  return std::exp(sum / static_cast<double>(rows.size())) - 1;
}

inline std::string percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

/// Returns the page of docs/validation/ with this table, or docs/validation.md if no page has it.
inline std::string page_with(const std::string& table) {
  const std::string folder = "docs/validation/";
  for (const auto& page : std::filesystem::directory_iterator(std::string(DADSIM_SOURCE_DIR) + "/" + folder)) {
    std::ifstream in(page.path());
    for (std::string line; std::getline(in, line);) {
      if (line == fmt::format("<!-- table {} -->", table)) return folder + page.path().filename().string();
    }
  }
  return "docs/validation.md";
}

/// A table on a page, from the comment `<!-- table NAME -->` to the next empty line; by default on `page_with(NAME)`.
class DocumentedTable {
 public:
  DocumentedTable(std::string name, std::vector<std::string> columns, std::string page = {})
      : name_(std::move(name)),
        columns_(std::move(columns)),
        page_(page.empty() ? page_with(name_) : std::move(page)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// Expects that the document has these rows, with numbers equal up to one unit in the last place, since compilers
  /// round differently. With DADSIM_WRITE_VALIDATION, first writes the table under its comment (scripts/validation).
  /// With DADSIM_PRINT_VALIDATION, prints the table.
  void expect_in_document() const {
    if (std::getenv("DADSIM_PRINT_VALIDATION") != nullptr) fmt::print("{}\n", text());
    if (std::getenv("DADSIM_WRITE_VALIDATION") != nullptr) write();
    const std::vector<std::vector<std::string>> documented = read();
    ASSERT_EQ(documented.size(), rows_.size()) << "rows of table " << name_;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      ASSERT_EQ(documented[row].size(), rows_[row].size()) << name_ << ", row " << row;
      for (std::size_t i = 0; i < rows_[row].size(); ++i) {
        EXPECT_TRUE(alike(documented[row][i], rows_[row][i]))
            << name_ << ", " << fmt::format("{}", fmt::join(rows_[row], " | ")) << ": the document has '"
            << documented[row][i] << "' for " << columns_[i];
      }
    }
  }

 private:
  std::string text() const {
    std::string all = fmt::format("<!-- table {} -->\n| {} |\n|", name_, fmt::join(columns_, " | "));
    for (std::size_t i = 0; i < columns_.size(); ++i) all += "---|";
    all += '\n';
    for (const auto& row : rows_) all += fmt::format("| {} |\n", fmt::join(row, " | "));
    return all;
  }

  /// Replaces the lines from the comment to the end of its table.
  void write() const {
    const std::string path = std::string(DADSIM_SOURCE_DIR) + "/" + page_;
    std::string document;
    bool found = false;
    bool inside = false;
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
      inside = inside && line.starts_with('|');
      if (line == fmt::format("<!-- table {} -->", name_)) {
        document += text();
        found = inside = true;
      } else if (!inside) {
        document += line + '\n';
      }
    }
    ASSERT_TRUE(found) << page_ << " has no place for table " << name_ << ": a line <!-- table " << name_ << " -->";
    std::ofstream(path) << document;
  }

  std::vector<std::vector<std::string>> read() const {
    std::ifstream in(std::string(DADSIM_SOURCE_DIR) + "/" + page_);
    std::string line;
    while (std::getline(in, line) && line != fmt::format("<!-- table {} -->", name_)) {
    }
    std::getline(in, line);  // skips the column names
    std::getline(in, line);  // skips the line below the column names
    std::vector<std::vector<std::string>> rows;
    while (std::getline(in, line) && line.starts_with("| ")) {
      std::vector<std::string> cells;
      for (std::size_t begin = 2; begin < line.size();) {
        const std::size_t end = line.find(" |", begin - 1);
        if (end == std::string::npos) break;
        cells.push_back(end > begin ? line.substr(begin, end - begin) : "");
        begin = end + 3;
      }
      rows.push_back(cells);
    }
    return rows;
  }

  static bool alike(const std::string& documented, const std::string& now) {
    if (documented == now) return true;
    char* end_documented = nullptr;
    char* end_now = nullptr;
    const double a = std::strtod(documented.c_str(), &end_documented);
    const double b = std::strtod(now.c_str(), &end_now);
    if (end_documented == documented.c_str() || std::string(end_documented) != end_now) return false;
    const std::size_t point = now.find('.');
    const auto digits = point == std::string::npos ? 0 : end_now - now.c_str() - static_cast<std::ptrdiff_t>(point) - 1;
    return std::abs(a - b) < 1.5 * std::pow(10.0, -static_cast<double>(digits));
  }

  std::string name_;
  std::vector<std::string> columns_;
  std::string page_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace dadsim::test
