#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "study/sweep/sweep_points.hpp"

namespace dadsim::study {
namespace {

spec::VariedPath listed(const std::string& path, std::vector<std::string> values) {
  return {.path = path, .values = std::move(values)};
}

spec::VariedPath ranged(const std::string& path, double from, double to, std::int64_t steps, bool logarithmic = false,
                        bool whole = false) {
  return {
      .path = path, .values = {}, .from = from, .to = to, .steps = steps, .logarithmic = logarithmic, .whole = whole};
}

std::vector<std::string> texts(const spec::VariedPath& varied) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < varied.count(); ++i) all.push_back(varied.at(i));
  return all;
}

using Texts = std::vector<std::string>;

TEST(Points, ARangeIsDividedEvenly) {
  EXPECT_EQ(texts(ranged("x", 1, 3, 3)), (Texts{"1", "2", "3"}));
  EXPECT_EQ(texts(ranged("x", 0.1, 0.3, 3)), (Texts{"0.1", "0.2", "0.3"}));
  EXPECT_EQ(texts(ranged("x", 3, 1, 2)), (Texts{"3", "1"}));
  EXPECT_EQ(texts(ranged("x", 1, 64, 7, true, true)), (Texts{"1", "2", "4", "8", "16", "32", "64"}));
  EXPECT_EQ(texts(ranged("x", 1, 1000, 3, true)), (Texts{"1", "31.6228", "1000"}));
  EXPECT_EQ(texts(ranged("x", 1e6, 3e6, 3)), (Texts{"1000000", "2000000", "3000000"}));
}

TEST(Points, TheFormHoldsTheValue) {
  spec::VariedPath hosts = ranged("hosts", 2, 4, 2, false, true);
  hosts.form = "site-[1-{}]";
  EXPECT_EQ(texts(hosts), (Texts{"site-[1-2]", "site-[1-4]"}));
}

TEST(Points, AGridHasEveryValueWithEveryOther) {
  spec::SweepSpec sweep;
  sweep.axes = {{listed("a", {"1", "2"})}, {listed("b", {"x", "y", "z"}), listed("c", {"X", "Y", "Z"})}};
  EXPECT_EQ(all_points(sweep),
            (std::vector<PointValues>{
                {"1", "x", "X"}, {"1", "y", "Y"}, {"1", "z", "Z"}, {"2", "x", "X"}, {"2", "y", "Y"}, {"2", "z", "Z"}}));
  EXPECT_EQ(count_points(sweep), 6);
}

TEST(Points, AListTakesValuesInStep) {
  spec::SweepSpec sweep;
  sweep.method = spec::SweepSpec::Method::list;
  sweep.axes = {{listed("a", {"1", "2"})}, {listed("b", {"x", "y"})}};
  EXPECT_EQ(all_points(sweep), (std::vector<PointValues>{{"1", "x"}, {"2", "y"}}));
}

TEST(Points, ALatinHypercubeCoversEveryAxisEvenly) {
  constexpr std::int64_t kPoints = 100;
  spec::SweepSpec sweep;
  sweep.method = spec::SweepSpec::Method::latin_hypercube;
  sweep.points = kPoints;
  sweep.axes = {{ranged("a", 0, 100, 0)}, {ranged("b", 1, 10000, 0, true)}, {listed("c", {"x", "y", "z", "w"})}};
  const std::vector<PointValues> points = all_points(sweep);
  ASSERT_EQ(points.size(), static_cast<std::size_t>(kPoints));
  std::set<int> parts_of_a;
  std::set<int> parts_of_b;
  for (const PointValues& point : points) {
    parts_of_a.insert(static_cast<int>(std::stod(point[0])));
    parts_of_b.insert(static_cast<int>(25 * std::log10(std::stod(point[1]))));
  }
  EXPECT_EQ(parts_of_a.size(), 100U) << "one in every hundredth";
  EXPECT_EQ(parts_of_b.size(), 100U) << "one in every hundredth of the logarithm";
  for (const char* value : {"x", "y", "z", "w"})
    EXPECT_EQ(std::ranges::count_if(points, [&](const PointValues& point) { return point[2] == value; }), 25) << value;
  // Each axis has its own permutation, so no axis is sorted.
  EXPECT_FALSE(std::ranges::is_sorted(points, {}, [](const PointValues& point) { return std::stod(point[0]); }));
}

TEST(Points, DrawnPointsAreTheSameWithTheSameSeedAlone) {
  spec::SweepSpec sweep;
  sweep.points = 50;
  sweep.axes = {{ranged("a", 0, 1, 0)}, {ranged("b", 0, 1, 0)}};
  for (const auto method : {spec::SweepSpec::Method::random, spec::SweepSpec::Method::latin_hypercube}) {
    sweep.method = method;
    sweep.seed = 1;
    const std::vector<PointValues> first = all_points(sweep);
    EXPECT_EQ(all_points(sweep), first);
    sweep.seed = 2;
    EXPECT_NE(all_points(sweep), first);
  }
}

TEST(Points, DrawnWholeNumbersAllOccur) {
  spec::SweepSpec sweep;
  sweep.method = spec::SweepSpec::Method::random;
  sweep.points = 6000;
  sweep.axes = {{ranged("a", 1, 6, 0, false, true)}};
  std::map<std::string, int> times;
  for (const PointValues& point : all_points(sweep)) ++times[point[0]];
  ASSERT_EQ(times.size(), 6U);
  // Each count is binomial, with mean 1000 and standard deviation 29; 120 are four of them.
  for (const auto& [value, count] : times) EXPECT_NEAR(count, 1000, 120) << value;
}

TEST(Points, LinkedPathsTakeTheSamePlaceInTheirRanges) {
  spec::SweepSpec sweep;
  sweep.method = spec::SweepSpec::Method::random;
  sweep.points = 20;
  sweep.axes = {{ranged("a", 0, 1, 0), ranged("b", 0, 100, 0)}};
  for (const PointValues& point : all_points(sweep)) EXPECT_NEAR(100 * std::stod(point[0]), std::stod(point[1]), 1e-3);
}

TEST(Points, TooManyAreCountedWithoutEnd) {
  spec::SweepSpec sweep;
  for (int i = 0; i < 20; ++i) sweep.axes.push_back({ranged(std::to_string(i), 0, 1, 100000)});
  EXPECT_EQ(count_points(sweep), spec::kMostSweepPoints + 1);
}

}  // namespace
}  // namespace dadsim::study
