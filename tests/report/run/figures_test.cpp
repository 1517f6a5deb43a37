#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>

#include "report/documented_fields.hpp"
#include "report/run/figure_values.hpp"
#include "report/sample.hpp"

namespace dadsim::report {
namespace {

TEST(Figures, EachHasAName) {
  std::set<std::string> names;
  for (const Figure& figure : figures()) {
    EXPECT_TRUE(names.insert(figure.name).second) << figure.name << " stands twice";
    EXPECT_STRNE(figure.meaning, "") << figure.name;
    EXPECT_EQ(figure.kind == Figure::Kind::text, figure.text != nullptr) << figure.name;
    EXPECT_EQ(figure.kind != Figure::Kind::text, figure.number != nullptr) << figure.name;
    EXPECT_STREQ(figures()[figure_index(figure.name)].name, figure.name);
  }
  EXPECT_STREQ(figures()[0].name, "label") << "CSVs begin with it";
  EXPECT_THROW(figure_index("no_such_figure"), std::logic_error);
}

TEST(Figures, HaveTheValuesOfARun) {
  const Result result = sample_scale_result();
  const FigureValues values({result.runs[0], result});
  EXPECT_EQ(values.text("label"), "rank-dad");
  EXPECT_EQ(values["target_seconds"], 6.5);
  EXPECT_EQ(values["target_after_seconds"], 0);
  EXPECT_TRUE(values.is("target_reached"));
  EXPECT_EQ(values["scale_low"], 660) << "with the errors of a step";
  EXPECT_EQ(values["scale_seeds_low"], 684) << "without them";
  EXPECT_EQ(values.text("bound_by"), "site-1");
  EXPECT_TRUE(std::isnan(values["money"])) << "nobody has asked for it";
  EXPECT_TRUE(std::isnan(values["participation"])) << "it is not event-driven";
  EXPECT_THROW(values["label"], std::logic_error);
  EXPECT_THROW(static_cast<void>(values.text("steps")), std::logic_error);
}

TEST(Figures, CostsOfAStretchHaveItsName) {
  Result result = sample_result();
  result.runs[0].costs = RunCosts{
      .whole = {.money = 8}, .to_target = Costs{.money = 4}, .at_scale = Costs{.money = 100}, .per_step = {.money = 2}};
  const FigureValues values({result.runs[0], result});
  EXPECT_EQ(values["money"], 8);
  EXPECT_EQ(values["money_to_target"], 4);
  EXPECT_EQ(values["money_at_scale"], 100);
  EXPECT_EQ(values["money_per_step"], 2);
  EXPECT_TRUE(std::isnan(values["joules"]));
}

/// Returns the rows of the table in docs/figures.md.
std::string figures_in_markdown() {
  std::string rows;
  for (const Figure& figure : figures()) {
    const std::string kind = figure.kind == Figure::Kind::truth  ? "yes or no"
                             : figure.kind == Figure::Kind::text ? "text"
                                                                 : figure.unit;
    rows += fmt::format("| `{}` | {} | {} | {}{} |\n", figure.name, kind, to_string(figure.better), figure.meaning,
                        figure.in_csv ? "" : "; not in CSV files");
  }
  return rows;
}

TEST(Figures, AreDocumentedAsTheyAre) {
  EXPECT_EQ(test::documented_rows("figures.md"), figures_in_markdown()) << "docs/figures.md has to have these rows:\n"
                                                                        << figures_in_markdown();
}

}  // namespace
}  // namespace dadsim::report
