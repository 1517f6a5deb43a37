// Compares the shipped map of the fastest method per network with a closed-form solution.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "quick_kernels.hpp"
#include "study/sweep/read_results.hpp"
#include "study/sweep/run.hpp"
#include "study/sweep/sweep_document.hpp"
#include "study/sweep/tiny_sweep.hpp"
#include "study/sweep/winners.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::study {
namespace {

constexpr std::size_t kLatencies = 9;
constexpr std::size_t kBandwidths = 11;
using Map = std::array<std::array<std::string, kBandwidths>, kLatencies>;

/// Returns the number of round trips through the hub in a step: PowerSGD waits for biases, P and Q in turn.
double rounds_of(const std::string& algorithm) { return algorithm == "power-sgd" ? 3 : 1; }

/// Returns the seconds to the target on a star whose hub is never the limit. A step is computing, every byte once over
/// the site's line, and the latency in both directions per round trip.
double closed_form(const SweepRun& run, double bandwidth, double latency) {
  const report::FigureValues& of = run.figures;
  const double bytes = of["bytes_up_per_worker"] + of["bytes_down_per_worker"];
  const double step = of["compute_seconds"] + bytes / bandwidth + 2 * latency * rounds_of(of.text("algorithm"));
  return step * of["target_step"];
}

TEST(Crossover, EveryCellHasTheWinnerOfTheClosedFormOrIsNextToOneThatHas) {
  const test::QuickKernels quick;
  const test::TemporaryFolder folder;
  const SweepPoints sweep = test::sweep_of(std::string(DADSIM_SOURCE_DIR) + "/scenarios/crossover.xml");
  ASSERT_EQ(sweep.points().size(), kLatencies * kBandwidths);
  EXPECT_EQ(sweep.distinct_runs(), 4U) << "one learning of each algorithm";
  const auto database = open_sweep(folder.path("c.sqlite"), sweep, {});
  EXPECT_EQ(run_sweep(sweep, *database, {}, {.threads = 2}).learned, 4);
  const SweepResults results = read_results(*database);

  Map simulated;
  Map expected;
  std::map<std::string, int> wins;
  const std::vector<PointOutcome> all = outcomes(results);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<std::string>& values = results.points[i].values;
    const double latency = std::stod(values[0]) * 1e-3;
    const double bandwidth = std::stod(values[1]) * 1e6 / 8;
    ASSERT_TRUE(all[i].reached()) << "point " << i + 1;
    ASSERT_EQ(all[i].ranked.size(), 4U);
    const auto runs = std::span(results.runs).subspan(4 * i, 4);
    for (const SweepRun& run : runs) ASSERT_TRUE(run.figures.is("target_reached")) << run.label();
    const SweepRun& best =
        *std::ranges::min_element(runs, {}, [&](const SweepRun& run) { return closed_form(run, bandwidth, latency); });
    simulated.at(i / kBandwidths).at(i % kBandwidths) = all[i].ranked.front().label;
    expected.at(i / kBandwidths).at(i % kBandwidths) = best.label();
    ++wins[best.label()];
  }
  EXPECT_GE(wins.size(), 3U) << "a map with borders";

  int equal = 0;
  for (std::size_t y = 0; y < kLatencies; ++y) {
    for (std::size_t x = 0; x < kBandwidths; ++x) {
      bool near = false;
      for (std::size_t v = y > 0 ? y - 1 : 0; v <= std::min(y + 1, kLatencies - 1); ++v) {
        for (std::size_t u = x > 0 ? x - 1 : 0; u <= std::min(x + 1, kBandwidths - 1); ++u)
          near = near || expected.at(v).at(u) == simulated.at(y).at(x);
      }
      EXPECT_TRUE(near) << "row " << y << ", column " << x << ": " << simulated.at(y).at(x) << ", not "
                        << expected.at(y).at(x);
      if (expected.at(y).at(x) == simulated.at(y).at(x)) ++equal;
    }
  }
  EXPECT_GE(equal, 90) << "of 99 cells; the closed form has no overlap of computing, sending and receiving";
  RecordProperty("equal_cells", equal);
  std::printf("%d of 99 cells have the winner of the closed form\n", equal);
}

}  // namespace
}  // namespace dadsim::study
