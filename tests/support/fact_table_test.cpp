#include "support/fact_table.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>

#include "support/split.hpp"
#include "support/whole_file.hpp"

namespace dadsim {
namespace {

const std::vector<std::string> kColumns{"name", "speed [m/s]", "fast", "date", "source"};

/// Returns the error about a table with these rows.
std::string said_of(const std::string& rows, std::size_t keys = 1) {
  const std::string text = "# words\nname,speed [m/s],fast,date,source\n" + rows;
  try {
    const FactTable table({"src/cars.csv", text}, kColumns, keys);
    for (const FactTable::Row& row : table.rows()) {
      static_cast<void>(row.number("speed [m/s]"));
      static_cast<void>(row.yes("fast"));
    }
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "";
}

TEST(FactTable, ReadsWhatItHolds) {
  const FactTable table({"src/cars.csv",
                         "name,speed [m/s],fast,date,source\n"
                         "# words\n"
                         "\"a, \"\"b\"\"\",16/36,yes,2024-05,s\n"
                         "c,,no,2024,\"t, u\"\n"},
                        kColumns);
  ASSERT_EQ(table.rows().size(), 2U);
  const FactTable::Row& first = table.rows()[0];
  EXPECT_EQ(first.text("name"), "a, \"b\"");
  EXPECT_EQ(first.number("speed [m/s]"), 16.0 / 36.0);
  EXPECT_TRUE(first.yes("fast"));
  const FactTable::Row& second = table.rows()[1];
  EXPECT_EQ(second.number_or("speed [m/s]", 7), 7);
  EXPECT_EQ(second.text("source"), "t, u");
  EXPECT_EQ(&second.row_of("name", table), &second);
}

TEST(FactTable, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(said_of("a,1,yes,2024,s\n"), "");
  EXPECT_EQ(said_of("a,1,yes,2024,\n"), "src/cars.csv:3: no source; fill the cell in every row");
  EXPECT_EQ(said_of("a,1,yes,,s\n"), "src/cars.csv:3: no date; fill the cell in every row");
  for (const char* date : {"24", "2024-13", "2024-1", "May 2024", "2024-05-32", "2024-05-01-1"})
    EXPECT_EQ(said_of("a,1,yes," + std::string(date) + ",s\n"),
              "src/cars.csv:3: '" + std::string(date) +
                  "' as date; use the date of the source, as 2024, 2024-05 or 2024-05-01");
  EXPECT_EQ(said_of("a,1,yes,2024,s\n# more\na,2,no,2024,s\n"),
            "src/cars.csv:5: 'a' is there twice; use one row (see line 3)");
  EXPECT_EQ(said_of("a,1,yes,2024,s\na,2,no,2024,s\n", 2), "");
  EXPECT_EQ(said_of("a,x,yes,2024,s\n"),
            "src/cars.csv:3: 'x' as speed [m/s]; use a number, or a quotient such as 16/36");
  EXPECT_EQ(said_of("a,1/0,yes,2024,s\n"),
            "src/cars.csv:3: '1/0' as speed [m/s]; use a number, or a quotient such as 16/36");
  EXPECT_EQ(said_of("a,1,ye,2024,s\n"), "src/cars.csv:3: 'ye' as fast; did you mean 'yes'?");
  EXPECT_EQ(said_of("a,1,yes,2024\n"),
            "src/cars.csv:3: 4 cells; use one cell for each of name,speed [m/s],fast,date,source");
  EXPECT_EQ(said_of("\"a,1,yes,2024,s\n"), "src/cars.csv:3: a quote is not closed; use cells of a CSV file (RFC 4180)");
  EXPECT_EQ(said_of(""), "src/cars.csv:2: no rows; facts");
  const auto other_columns = [] { const FactTable table({"f", "name,source,date\n"}, kColumns); };
  EXPECT_THROW(other_columns(), std::logic_error);
}

// Checks tables of facts only, not those of cli/ and report/words/, which contain names and sentences.
TEST(FactTable, EveryRowOfEveryTableHasASourceAndADate) {
  const std::filesystem::path source = std::filesystem::path(DADSIM_SOURCE_DIR) / "src";
  std::set<std::string> tables;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source)) {
    const std::string name = std::filesystem::relative(entry.path(), source).string();
    if (entry.path().extension() != ".csv" || name.starts_with("cli/") || name.starts_with("report/words/")) continue;
    tables.insert(name);
    const std::string text = whole_file(entry.path().string()).value();
    std::vector<std::string> columns;
    for (const std::string_view line : lines_of(text)) {
      if (columns.empty() && !line.starts_with('#')) columns = csv_cells(line);
    }
    ASSERT_GE(columns.size(), 3U) << name;
    EXPECT_EQ(columns.end()[-2], "date") << name;
    EXPECT_EQ(columns.end()[-1], "source") << name;
    EXPECT_NO_THROW(FactTable({name, text}, columns, columns.size())) << name;
  }
  EXPECT_TRUE(tables.contains("sim/devices/devices.csv"));
}

}  // namespace
}  // namespace dadsim
