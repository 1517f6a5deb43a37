#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "estimate/bands.hpp"
#include "validation/measured.hpp"

// Keeps the rows of all validation tests in one file, from which bands and their coverage are computed.

namespace dadsim::test {

inline const std::string kResidualsFile = std::string(DADSIM_SOURCE_DIR) + "/tests/validation/residuals.csv";
inline constexpr const char* kResidualColumns = "table,what,role,parts,predicted,measured";

/// A row of residuals.csv.
struct ResidualRow {
  std::string table, what;
  std::string role;  ///< calibrated: this row alone determines a constant; fitted: few constants are fitted to many
                     ///< rows; predicted
  std::string
      parts;  ///< categories with their fractions of the prediction: "compute.several-devices:0.992 network.rdma:0.008"
  Compared seconds;

  std::vector<estimate::TimePart> time_parts() const {
    std::vector<estimate::TimePart> result;
    for (const std::string& part : split(parts, ' ')) {
      const std::size_t colon = part.rfind(':');
      result.push_back({part.substr(0, colon), std::stod(part.substr(colon + 1)) * seconds.predicted});
    }
    return result;
  }
  double ratio() const { return seconds.measured / seconds.predicted; }
};

inline std::vector<ResidualRow> residual_rows() {
  std::vector<ResidualRow> rows;
  for (auto& cells : measured("residuals")) {
    rows.push_back({cells["table"],
                    cells["what"],
                    cells["role"],
                    cells["parts"],
                    {std::stod(cells["predicted"]), std::stod(cells["measured"])}});
  }
  return rows;
}

/// Returns the parts of a band as "category:share …".
inline std::string parts_in_words(const std::vector<estimate::TimePart>& parts) {
  double sum = 0;
  for (const estimate::TimePart& part : parts) sum += part.seconds;
  std::string text;
  for (const estimate::TimePart& part : parts)
    text += fmt::format("{}{}:{:.3g}", text.empty() ? "" : " ", part.category, part.seconds / sum);
  return text;
}

/// Rows of one table; a validation test adds them one by one.
class Residuals {
 public:
  explicit Residuals(std::string table) : table_(std::move(table)) {}

  /// Adds a row. `parts`: one category, or several with their fractions. `seconds`: predicted and measured.
  void add(std::string what, std::string role, std::string parts, Compared seconds) {
    if (parts.find(':') == std::string::npos) parts += ":1";
    rows_.push_back({table_, std::move(what), std::move(role), std::move(parts), seconds});
  }

  /// Expects that the file has these rows of the table, to a thousandth. With DADSIM_WRITE_VALIDATION, first replaces
  /// the table's rows in the file.
  void expect_in_file() const {
    if (std::getenv("DADSIM_WRITE_VALIDATION") != nullptr) write();
    std::vector<ResidualRow> known;
    for (ResidualRow& row : residual_rows()) {
      if (row.table == table_) known.push_back(std::move(row));
    }
    ASSERT_EQ(known.size(), rows_.size())
        << "rows of " << table_ << " in residuals.csv; scripts/validation writes them";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const ResidualRow& now = rows_[i];
      EXPECT_EQ(known[i].what, now.what);
      EXPECT_EQ(known[i].role, now.role) << now.what;
      EXPECT_NEAR(known[i].seconds.predicted / now.seconds.predicted, 1, 1e-3) << table_ << ", " << now.what;
      EXPECT_NEAR(known[i].seconds.measured / now.seconds.measured, 1, 1e-3) << table_ << ", " << now.what;
      const auto parts = now.time_parts();
      const auto known_parts = known[i].time_parts();
      ASSERT_EQ(known_parts.size(), parts.size()) << now.what << ": " << now.parts;
      for (std::size_t part = 0; part < parts.size(); ++part)
        EXPECT_EQ(known_parts[part].category, parts[part].category) << now.what;
    }
  }

 private:
  void write() const {
    std::string text;
    bool written = false;
    const auto write_own = [&] {
      for (const ResidualRow& row : rows_)
        text += fmt::format("{},{},{},{},{:.5g},{:.5g}\n", row.table, row.what, row.role, row.parts,
                            row.seconds.predicted, row.seconds.measured);
      written = true;
    };
    std::ifstream in(kResidualsFile);
    for (std::string line; std::getline(in, line);) {
      if (!line.starts_with(table_ + ",")) {
        text += line + '\n';
      } else if (!written) {
        write_own();
      }
    }
    if (!written) write_own();
    std::ofstream(kResidualsFile) << text;
  }

  std::string table_;
  std::vector<ResidualRow> rows_;
};

}  // namespace dadsim::test
