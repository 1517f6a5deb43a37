#include "study/sweep/sweep_document.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/run/contender.hpp"
#include "report/run/uncertainty.hpp"
#include "study/sweep/winners.hpp"

namespace dadsim::study {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

SweepRun run(std::int64_t point, std::int64_t number, const std::string& label, double seconds, std::int64_t seed = 0) {
  SweepRun one{{point, seed}, number, {}, {}};
  one.figures.set("label", label)
      .set("algorithm", label)
      .set("communicates", 1)
      .set("target_reached", std::isfinite(seconds) ? 1 : 0)
      .set("target_seconds", seconds)
      .set("target_after_seconds", 0.99 * seconds);  // close evaluations, so that their interval is small
  one.uncertainty =
      report::to_text({.parts = {}, .arrivals = {}, .seed_scatter = 0.08 / std::sqrt(2)});  // a scatter of 8 % for the
                                                                                            // ratio of two runs
  return one;
}

/// Returns a grid of `down` × `across` points on which a is faster where its column is less than its row.
SweepResults grid(int down, int across) {
  SweepResults results;
  results.identity.scenario_name = "Grid";
  results.identity.points = static_cast<std::int64_t>(down) * across;
  results.columns = {{1, "platform.latency"}, {2, "platform.up"}};
  for (int y = 0; y < down; ++y) {
    for (int x = 0; x < across; ++x) {
      const std::int64_t id = y * across + x + 1;
      results.points.push_back({id, "0", {std::to_string(y) + "ms", std::to_string(x) + "Mbps"}});
      results.runs.push_back(run(id, 1, "a", x < y ? 1 : 3));
      results.runs.push_back(run(id, 2, "b", 2));
    }
  }
  return results;
}

std::ptrdiff_t lines(const std::string& text) { return std::ranges::count(text, '\n'); }

TEST(SweepTable, FewPointsHaveALineEach) {
  SweepResults results = grid(2, 3);
  results.runs[0] = run(1, 1, "a", kNone);
  results.runs[1] = run(1, 2, "b", kNone);
  const std::string text = to_table(document_of(results));
  EXPECT_EQ(text,
            "b reaches the target first at 4 of 6 points (all 4 with uplink of platform at least 1 Mbit/s); a at 1.\n"
            "At 1 point, no run reaches the target.\n"
            "\n"
            "Grid: 6 points\n"
            "\n"
            "point  latency     up  quickest   time to target                     next\n"
            "    1      0ms  0Mbps  (no time)\n"
            "    2      0ms  1Mbps  b                  2.00 s  a 1.5 times (1.3 … 1.8)\n"
            "    3      0ms  2Mbps  b                  2.00 s  a 1.5 times (1.3 … 1.8)\n"
            "    4      1ms  0Mbps  a                  1.00 s  b 2.0 times (1.7 … 2.3)\n"
            "    5      1ms  1Mbps  b                  2.00 s  a 1.5 times (1.3 … 1.8)\n"
            "    6      1ms  2Mbps  b                  2.00 s  a 1.5 times (1.3 … 1.8)\n");
}

TEST(SweepTable, WhatIsNotToldApartIsAnAnswerAndACellOfTheMap) {
  SweepResults results = grid(2, 3);
  results.runs[2] = run(2, 1, "a", 2.1);
  const std::string text = to_table(document_of(results));
  EXPECT_NE(text.find("    2      0ms  1Mbps  open: b, a          2.00 s\n"), std::string::npos) << text;
  // Exact methods share one learned trajectory: with equal steps, a difference in time is not due to chance.
  results.runs[2] = run(2, 1, "a", 2.3);
  for (const std::size_t at : {2U, 3U}) results.runs[at].figures.set("exact", 1);
  results.runs[2].figures.set("step_seconds", 0.23);
  results.runs[3].figures.set("step_seconds", 0.2);
  EXPECT_NE(to_table(document_of(results)).find("a 1.15 times\n"), std::string::npos) << to_table(document_of(results));
  SweepResults many = grid(9, 11);
  for (std::size_t point = 0; point < 11; ++point) many.runs[2 * point].figures.set("target_seconds", 2.1);
  const std::string map = to_table(document_of(many));
  EXPECT_NE(map.find("  0ms  = = = = = = = = = = =\n"), std::string::npos) << map;
  EXPECT_NE(map.find("=  (equal, or not distinguishable)"), std::string::npos) << map;
}

TEST(SweepTable, ATargetMetBeforeTheFirstStepIsNoRatio) {
  SweepResults results = grid(2, 3);
  for (const std::size_t at : {2U, 3U})
    results.runs[at].figures.set("target_seconds", 0).set("target_after_seconds", 0);
  EXPECT_NE(to_table(document_of(results)).find("equal: a, b"), std::string::npos) << to_table(document_of(results));
}

TEST(SweepTable, SaysHowFarRelativeStepsMove) {
  SweepResults results = grid(2, 3);
  const std::vector<double> ratios{1.1, 1.25, kNone, 1.6, 1.3, 1.2};
  for (std::size_t point = 0; point < ratios.size(); ++point) {
    results.runs[2 * point].figures.set("relative_steps", ratios[point]);
    results.runs[2 * point + 1].figures.set("relative_steps", 1);
  }
  const std::string text = to_table(document_of(results));
  EXPECT_NE(text.find("relative steps of a: 1.1 to 1.6 over 5 points\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("relative steps of b"), std::string::npos) << "they do not move";
}

TEST(SweepTable, ManyPointsHaveASummaryAndAMap) {
  const std::string text = to_table(document_of(grid(9, 11)));
  EXPECT_LT(lines(text), 40);
  EXPECT_NE(text.find("a  b                    63  63.6 %"), std::string::npos) << text;
  EXPECT_NE(text.find("b  a                    36  36.4 %"), std::string::npos) << text;
  EXPECT_NE(text.find("  0ms  a a a a a a a a a a a\n  1ms  b a a a a a a a a a a\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  8ms  b b b b b b b b a a a\n"), std::string::npos) << text;
}

TEST(SweepTable, IsNeverLong) {
  for (const auto& [down, across] : {std::pair{1, 1}, {28, 1}, {29, 1}, {24, 40}, {25, 40}, {100, 100}})
    EXPECT_LT(lines(to_table(document_of(grid(down, across)))), 40) << down << " × " << across;
}

TEST(Winners, AreMeansOverSeedsWithTheirIntervals) {
  SweepResults results = grid(1, 1);
  results.identity.seeds = 3;
  results.runs.clear();
  for (std::int64_t seed = 0; seed < 3; ++seed) {
    results.runs.push_back(run(1, 1, "a", 10 + static_cast<double>(seed), seed));
    results.runs.push_back(run(1, 2, "b", seed == 1 ? kNone : 1, seed));
  }
  const PointOutcome outcome = outcomes(results).at(0);
  ASSERT_TRUE(outcome.won());
  EXPECT_EQ(outcome.ranked[0].label, "a") << "b does not reach the target with every seed";
  EXPECT_FALSE(outcome.ranked[1].seconds);
  // Student's t with two degrees of freedom is 4.302653, and the standard error of 10, 11 and 12 is 1/√3. Evaluation
  // intervals are added as in a run with several seeds.
  EXPECT_DOUBLE_EQ(outcome.ranked[0].seconds->value, 11);
  const std::vector<std::optional<estimate::Arrival>> arrivals{estimate::Arrival{9.9, 10}, estimate::Arrival{10.89, 11},
                                                               estimate::Arrival{11.88, 12}};
  const estimate::Estimate of_run = report::mean_arrival(arrivals, 0);
  EXPECT_NEAR(outcome.ranked[0].seconds->low.value(), of_run.low.value(), 1e-9);
  EXPECT_NEAR(outcome.ranked[0].seconds->high.value(), 11 + 4.302653 / std::sqrt(3), 1e-5);
}

TEST(Winners, ReferenceEndsTakeNoPartBesideOthers) {
  SweepResults results = grid(1, 1);
  results.runs.push_back(run(1, 3, "pooled", 0.1));
  results.runs.back().figures.set("communicates", 0);
  EXPECT_EQ(outcomes(results).at(0).ranked.front().label, "b");
  results.runs.erase(results.runs.begin(), results.runs.begin() + 2);
  EXPECT_EQ(outcomes(results).at(0).ranked.front().label, "pooled");
}

TEST(Winners, AreThoseAtScaleWhereThatIsKnown) {
  SweepResults results = grid(1, 1);
  results.runs[0].figures.set("scale_seconds", 100).set("workload", "resnet-50");
  results.runs[1].figures.set("scale_seconds", 200).set("workload", "resnet-50");
  const PointOutcome outcome = outcomes(results).at(0);
  EXPECT_EQ(outcome.metric, report::Metric::time_at_scale);
  EXPECT_EQ(outcome.ranked.front().label, "a");
  EXPECT_EQ(outcome.ranked.front().seconds->value, 100);
}

TEST(SweepCsv, HasAColumnForEveryNameAndQuotesWhatNeedsIt) {
  SweepResults results = grid(1, 2);
  results.points[0].values[0] = "a, \"b\"";
  results.failed.push_back({{2, 0}, "lost, all"});
  results.runs.erase(results.runs.begin() + 2, results.runs.end());
  const std::string csv = sweep_csv(results);
  EXPECT_EQ(lines(csv), 4);
  const std::string head = csv.substr(0, csv.find('\n'));
  const std::string last = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
  EXPECT_EQ(std::ranges::count(head, ','), std::ranges::count(last, ',') - 1) << "one comma is inside quotes";
  EXPECT_NE(csv.find("1,0,\"a, \"\"b\"\"\",0Mbps,a,a,"), std::string::npos) << csv;
  EXPECT_TRUE(last.ends_with(",\"lost, all\"\n")) << last;
}

}  // namespace
}  // namespace dadsim::study
