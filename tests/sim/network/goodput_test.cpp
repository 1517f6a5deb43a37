#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/star.hpp"
#include "spec/platform_specification.hpp"

// Tests lines with measured goodput. They lose nothing, and a connection gets its measured rate or one window per round
// trip, whichever is less.

namespace dadsim::sim {
namespace {

using test::same;
using test::Script;

constexpr double kSegmentShare = 1448.0 / 1514;
constexpr double kNeverFull = 1e9;  // bytes; BBR is modelled by a queue of this size

/// Senders in region `a`, each with a message of `bytes` to the host of region `b`, share the line between the regions.
struct Line {
  double bandwidth = 2.5e7, round_trip = 0.1;  ///< byte/s, seconds
  double per_connection = 0;                   ///< byte/s per connection; 0: unlimited
  std::int64_t streams = 1;
  std::size_t senders = 1;
  double bytes = 5e8;
  std::optional<spec::WanSpec::Pair> pair = {};  ///< replaces the measured line
  std::optional<spec::LinkSpec> host = {};
};

spec::LinkSpec host_line() {
  spec::LinkSpec link;
  link.name = "host";
  link.bandwidth = 8.6e8;
  link.latency = 1e-4;
  link.transport = spec::Transport::tcp;
  link.is_goodput = true;
  return link;
}

/// Returns a pair with a transport and a queue; `seconds` fills in bandwidth, round trip and ends.
spec::WanSpec::Pair pair_over(spec::Transport transport, double queue_bytes = 3e5) {
  spec::WanSpec::Pair pair;
  pair.transport = transport;
  pair.queue_bytes = queue_bytes;
  return pair;
}

spec::WanSpec::Pair measured_pair() {
  spec::WanSpec::Pair pair;
  pair.is_goodput = true;
  return pair;
}

/// Returns the seconds until the last message has arrived over warm connections and the answer is back.
double seconds(const Line& line) {
  spec::WanSpec wan;
  wan.regions = {{"a", static_cast<std::int64_t>(line.senders)}, {"b", 1}};
  wan.host = line.host.value_or(host_line());
  spec::WanSpec::Pair pair = line.pair.value_or(measured_pair());
  pair.bandwidth = line.bandwidth;
  pair.round_trip = line.round_trip;
  pair.per_connection = line.per_connection;
  for (const bool back : {false, true}) {
    pair.from = back ? "b" : "a";
    pair.to = back ? "a" : "b";
    wan.pairs.push_back(pair);
  }
  Cluster cluster;
  cluster.platform.what = wan;
  for (std::size_t i = 1; i <= line.senders; ++i) {
    cluster.hosts.push_back(fmt::format("a-{}", i));
    cluster.devices.push_back(test::clockwork());
  }
  cluster.aggregator_host = "b-1";
  cluster.aggregator_device = test::clockwork();
  cluster.network.streams = line.streams;
  Script script(line.senders);
  script.gather_and_answer(same(line.bytes));
  return time_schedules(cluster, std::vector<schedule::Schedule>{script.schedule()}).steps.at(0).seconds;
}

/// Returns the time for the bytes of all senders at `rate`, plus a round trip.
double expected(const Line& line, double rate) {
  return static_cast<double>(line.senders) * line.bytes / rate + line.round_trip;
}

TEST(Goodput, IsWhatALongTransferGets) {
  const Line line;
  EXPECT_NEAR(seconds(line), expected(line, line.bandwidth), 0.01 * seconds(line));
}

// Between hosts whose lines lose nothing, a plain line has no queue that could overflow.
TEST(Goodput, APlainLineBetweenHostsThatLoseNothingLosesNothing) {
  Line line{.pair = pair_over(spec::Transport::plain), .host = host_line()};
  line.host->is_goodput = false;
  line.host->efficiency = kSegmentShare;
  line.host->queue_bytes = kNeverFull;
  EXPECT_NEAR(seconds(line), expected(line, line.bandwidth), 0.01 * seconds(line));
}

// A pair with BBR makes the hosts' measured lines lossless too.
TEST(Goodput, BbrOnThePairAloneIsEnough) {
  const Line line{.pair = pair_over(spec::Transport::tcp, kNeverFull)};
  EXPECT_NEAR(seconds(line), expected(line, kSegmentShare * line.bandwidth), 0.01 * seconds(line));
  const Line lossy{.pair = pair_over(spec::Transport::tcp)};
  EXPECT_GT(seconds(lossy), 1.5 * seconds(line)) << "a queue that is given loses";
}

TEST(Goodput, AConnectionGetsNoMoreThanOneWasMeasuredToGet) {
  Line line{.bandwidth = 2.6e8, .per_connection = 2.6e7};
  EXPECT_NEAR(seconds(line), expected(line, line.per_connection), 0.01 * seconds(line));
  line.streams = 4;
  EXPECT_NEAR(seconds(line), expected(line, 4 * line.per_connection), 0.01 * seconds(line));
}

// A connection sends at most half of a 6 MiB window per round trip of the pair and the hosts' lines.
TEST(Goodput, OrAWindowPerRoundTrip) {
  const Line line{.bandwidth = 5e8};
  EXPECT_NEAR(seconds(line), expected(line, 3145728 / (line.round_trip + 4e-4)), 0.01 * seconds(line));
}

// Connections keep their own rate while the line is wide enough for all; otherwise they share it evenly.
TEST(Goodput, EqualConnectionsShareALine) {
  for (const std::size_t senders : {2, 3, 5, 8}) {
    const Line line{.bandwidth = 1e8, .per_connection = 2.6e7, .senders = senders};
    const double rate = std::min(line.bandwidth, static_cast<double>(senders) * line.per_connection);
    EXPECT_NEAR(seconds(line), expected(line, rate), 0.01 * seconds(line)) << senders;
  }
}

TEST(Goodput, MoreBandwidthAShorterRoundTripAndMoreStreamsAreNeverSlower) {
  constexpr double kRounded = 1 + 1e-9;
  for (const double per_connection : {0.0, 4e6}) {
    for (const double bytes : {2e4, 3e6, 2e8}) {
      for (const std::size_t senders : {1, 3}) {
        const Line line{.per_connection = per_connection, .senders = senders, .bytes = bytes};
        Line faster = line, nearer = line, wider = line;
        faster.bandwidth *= 3;
        nearer.round_trip /= 4;
        wider.streams = 5;
        const double before = seconds(line);
        for (const Line& better : {faster, nearer, wider})
          EXPECT_LE(seconds(better), kRounded * before) << per_connection << ' ' << bytes << ' ' << senders;
      }
    }
  }
}

}  // namespace
}  // namespace dadsim::sim
