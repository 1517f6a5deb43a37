#include "report/validate/validation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/documented_fields.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

using Json = nlohmann::ordered_json;

Validation sample() {
  Validation validation;
  validation.version = "0.1.0";
  validation.build = "abc123";
  validation.simgrid = "3.32";
  validation.tables.push_back(
      {.name = "ours",
       .source = "ours.csv",
       .rows = {{.name = "a", .line = 2, .devices = 8, .measured = 1, .predicted = 1.1, .band = {0.8, 1.2}},
                {.name = "b", .line = 3, .devices = 16, .measured = 4, .predicted = 2, .band = {0.8, 1.4}},
                {.name = "c", .line = 4, .refused = Fault{"no memory holds it", ""}}},
       .left_out = 2});
  return validation;
}

TEST(Validation, CountsErrorsAndBands) {
  const TableFigures figures = figures_of(sample().tables[0]);
  EXPECT_EQ(figures.rows, 2U);
  EXPECT_EQ(figures.refused, 1U);
  EXPECT_NEAR(figures.mean_error, 0.3, 1e-12);     // errors of 10 % and 50 %
  EXPECT_NEAR(figures.signed_error, -0.2, 1e-12);  // errors of +10 % and −50 %
  EXPECT_EQ(figures.order, 1);
  EXPECT_EQ(figures.inside, 1U);
  EXPECT_NEAR(figures.half_width, 0.25, 1e-12);  // half-widths of 0.2 and 0.3
  EXPECT_NEAR(figures.offset, std::sqrt(2 / 1.1), 1e-12);
}

TEST(Validation, PredictsRowsByOneOfTheSameNetwork) {
  ValidatedTable table = sample().tables[0];
  table.rows[0].own_band = {0.9, 1.1};
  table.rows[1].own_band = {0.5, 2.3};
  const TableFigures figures = figures_of(table);
  // Row a takes 1 ÷ 1.1 of its prediction. With this correction, row b is predicted as 1.8 and measured 4, which is
  // within its band. Corrected by row b, row a is predicted as 2.2 and measured 1, which is outside.
  EXPECT_NEAR(figures.own_inside, 0.5, 1e-12);
  EXPECT_NEAR(figures.own_median_error, 1.2, 1e-12);
  EXPECT_NEAR(figures.own_half_width, (0.1 + 0.9) / 2, 1e-12);
  table.rows[1].network = "another";
  EXPECT_EQ(figures_of(table).own_half_width, 0);
}

TEST(Validation, AnswersFirst) {
  const Summary summary = summary_of(document_of(sample(), true), false);
  EXPECT_EQ(summary.answer.find("1 of 2 measurements lie in the band of their prediction (50.0 %); mean error 30.0 %"),
            0U)
      << summary.answer;
  for (const char* part : {"2 of 4", "30.0 %", "-20.0 %", "±25 %", "c: ours.csv:4: no memory holds it",
                           "2 rows with more devices are left out", "2.00 s", "1.60 s … 2.80 s"}) {
    EXPECT_NE(summary.body.find(part), std::string::npos) << part << "\n" << summary.body;
  }
  EXPECT_EQ(summary_of(document_of(sample(), false), false).body.find("no memory"), std::string::npos);
  std::istringstream lines(summary.all());
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), kTableWidth) << line;
}

TEST(Validation, WritesWhatIsDocumented) {
  EXPECT_EQ(test::fields_of(to_json(document_of(sample(), true))), test::documented_in("validate.md", "JSON"));
  const Json json = Json::parse(to_json(document_of(sample(), true)));
  EXPECT_EQ(json["tables"][0]["inside"], 1);
  EXPECT_EQ(json["tables"][0]["rows"][1]["low_s"], 1.6);
  EXPECT_FALSE(json["tables"][0]["rows"][2].contains("measured_s"));
}

}  // namespace
}  // namespace dadsim::report
