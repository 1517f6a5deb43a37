#include <gtest/gtest.h>

#include <vector>

#include "sim/declared.hpp"
#include "sim/network/connection.hpp"

namespace dadsim::sim {
namespace {

TEST(Departures, LeaveInTheOrderOfWriting) {
  Departures departures;
  departures.write(8, 1.0, 50);
  departures.write(9, 1.5, 300);
  departures.write(7, 1.0, 100);
  EXPECT_DOUBLE_EQ(departures.begin_of(8, 100, true), 2.0) << "whoever asks first";
  EXPECT_DOUBLE_EQ(departures.begin_of(7, 100, true), 1.0);
  EXPECT_DOUBLE_EQ(departures.begin_of(9, 100, true), 2.5);
  departures.write(10, 9.0, 1);
  EXPECT_DOUBLE_EQ(departures.begin_of(10, 100, true), 9.0) << "the queue has long been empty";
}

TEST(Departures, ShareWhereTheyDoNotFitIntoTheQueue) {
  Departures departures;
  departures.write(1, 1.0, 100);
  departures.write(2, 1.0, 100);
  EXPECT_DOUBLE_EQ(departures.begin_of(2, 100, false), 1.0);
  EXPECT_DOUBLE_EQ(departures.begin_of(1, 100, false), 1.0);
}

constexpr double kSlow = 1.25e6;  // byte/s

/// Returns the seconds in which the first host sends `bytes` to a near host and a far host, in the order of `to`.
double two_messages(std::vector<collectives::Rank> to, double bytes, spec::Fidelity fidelity) {
  constexpr double kFast = 1000 * kSlow;
  spec::FederationSpec sites;
  const auto site = [](const char* name, double up, double latency) {
    return spec::FederationSpec::Sites{name, 1, false, test::line(up, latency, spec::Transport::tcp),
                                       test::line(kFast, latency, spec::Transport::tcp)};
  };
  sites.sites = {site("sender", kSlow, 0), site("far", kFast, 0.05), site("near", kFast, 0.001)};
  Cluster cluster = test::workers_on({"", sites, {}, {}}, fidelity);
  std::erase(cluster.hosts, "hub");
  CollectiveJob job = test::job(step::CollectiveKind::neighbour_exchange, "direct", bytes);
  job.request.neighbours = {std::move(to), {}, {}};
  const CollectiveTiming timing = time_collectives(cluster, std::vector<CollectiveJob>{job}).timings.front();
  EXPECT_EQ(timing.fidelity, fidelity);
  return timing.seconds;
}

TEST(Departures, ABurstLeavesAHostInOrder) {
  constexpr double kBytes = 16384;
  for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    const double far_first = two_messages({1, 2}, kBytes, fidelity);
    const double far_last = two_messages({2, 1}, kBytes, fidelity);
    EXPECT_NEAR(far_last - far_first, kBytes / kSlow, 1e-8) << to_string(fidelity);
  }
}

TEST(Departures, WhatOverflowsTheQueueLeavesTogether) {
  constexpr double kBytes = 2e5;  // two messages exceed the queue of 300 kB
  for (const spec::Fidelity fidelity : {spec::Fidelity::message, spec::Fidelity::flow}) {
    EXPECT_NEAR(two_messages({1, 2}, kBytes, fidelity), two_messages({2, 1}, kBytes, fidelity), 1e-8)
        << to_string(fidelity);
  }
}

}  // namespace
}  // namespace dadsim::sim
