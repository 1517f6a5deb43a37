#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/built_platform.hpp"
#include "sim/platform.hpp"

namespace dadsim::sim {
namespace {

using test::BuiltPlatform;
using test::failure_to_build;
using test::link_spec;

spec::WanSpec wan() {
  spec::WanSpec spec;
  spec.regions = {{"aws:us-east-1", 2}, {"north", 1}, {"south", 3}};
  spec.host = link_spec("ethernet", 100, 0.5, spec::Transport::tcp);
  spec.pairs = {{"aws:us-east-1", "north", 20, 8, spec::Transport::tcp},
                {"north", "aws:us-east-1", 30, 10, spec::Transport::tcp},
                {"aws:us-east-1", "south", 200, 2, spec::Transport::rdma},
                {"south", "aws:us-east-1", 40, 2, spec::Transport::tcp},
                {"north", "south", 50, 6, spec::Transport::tcp},
                {"south", "north", 60, 6, spec::Transport::tcp}};
  return spec;
}

TEST(Wan, Routes) {
  const BuiltPlatform platform({"", wan(), {}, {}});
  platform.expect_hosts();
  platform.expect_route("aws:us-east-1-1", "aws:us-east-1-2", {"aws:us-east-1-1 line_UP", "aws:us-east-1-2 line_DOWN"},
                        1, 100);
  platform.expect_route("aws:us-east-1-2", "north-1",
                        {"aws:us-east-1-2 line_UP", "aws:us-east-1 -> north", "north-1 line_DOWN"}, 5, 20);
  platform.expect_route("north-1", "aws:us-east-1-2",
                        {"north-1 line_UP", "north -> aws:us-east-1", "aws:us-east-1-2 line_DOWN"}, 6, 30);
  platform.expect_route("aws:us-east-1-1", "south-3",
                        {"aws:us-east-1-1 line_UP", "aws:us-east-1 -> south", "south-3 line_DOWN"}, 2, 100);
  platform.expect_route("south-3", "north-1", {"south-3 line_UP", "south -> north", "north-1 line_DOWN"}, 4, 60);
  EXPECT_EQ(platform.node_of("south-2"), "south-2");
  for (const char* way : {"_UP", "_DOWN"}) platform.expect_link(std::string("south-2 line") + way, wan().host);
  spec::LinkSpec line = link_spec("wan", 20, 4, spec::Transport::tcp, 1448.0 / 1514);
  line.queue_bytes = 3e5;
  platform.expect_link("aws:us-east-1 -> north", line);
  line = link_spec("wan", 200, 1, spec::Transport::rdma, 1);
  line.queue_bytes = 3e5;
  platform.expect_link("aws:us-east-1 -> south", line);
}

// Three hosts of the south send to other regions at once. Two go to the same region and share 60 byte/s; the third has
// 40.
TEST(Wan, APairsLineIsShared) {
  const BuiltPlatform platform({"", wan(), {}, {}});
  EXPECT_NEAR(platform.send({{"south-1", "north-1"}, {"south-2", "north-1"}, {"south-3", "aws:us-east-1-1"}}, 120),
              4 + 2 * 120 / 60.0, 1e-6);
}

TEST(Wan, RegionsOfTheCatalogue) {
  spec::WanSpec spec;
  spec.host = link_spec("ethernet", 1.25e9, 0, spec::Transport::tcp);
  spec.regions = {{"aws:us-east-1", 1}, {"aws:eu-west-1", 1}};
  spec.pairs = {*region_pair("aws:us-east-1", "aws:eu-west-1"), *region_pair("aws:eu-west-1", "aws:us-east-1")};
  const BuiltPlatform platform({"", spec, {}, {}});
  // Skyplane measured 4.32 Gbit/s of payload and a round trip of 85 ms.
  double latency = 0;
  double bandwidth = 0;
  platform.route("aws:us-east-1-1", "aws:eu-west-1-1", &latency, &bandwidth);
  EXPECT_NEAR(bandwidth * 8, 4.32e9, 0.01e9);
  EXPECT_TRUE(spec.pairs.front().is_goodput);
  EXPECT_NEAR(latency, 0.085 / 2, 0.0005 / 2);
}

TEST(Wan, RegionsThatNothingJoins) {
  spec::WanSpec spec = wan();
  spec.pairs.pop_back();
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}), "no link joins 'south' to 'north'; add a pair");
}

TEST(Wan, APairTwice) {
  spec::WanSpec spec = wan();
  spec.pairs.push_back(spec.pairs.front());
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}), "the pair from 'aws:us-east-1' to 'north' occurs twice; remove one");
}

TEST(Wan, APairOfNoRegion) {
  spec::WanSpec spec = wan();
  spec.pairs.front().from = "west";
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}), "a pair names 'west'; use aws:us-east-1, north, south");
}

}  // namespace
}  // namespace dadsim::sim
