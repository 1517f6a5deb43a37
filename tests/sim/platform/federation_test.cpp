#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/built_platform.hpp"

namespace dadsim::sim {
namespace {

using test::BuiltPlatform;
using test::failure_to_build;
using test::link_spec;

spec::FederationSpec federation() {
  spec::FederationSpec spec;
  spec.sites = {{"hospital", 2, true, link_spec("slow-up", 20, 1, spec::Transport::tcp),
                 link_spec("slow-down", 100, 2, spec::Transport::tcp)},
                {"lab", 1, false, link_spec("fast", 400, 0.5, spec::Transport::tcp),
                 link_spec("fast", 400, 0.5, spec::Transport::tcp)}};
  spec.hub_up = link_spec("hub", 1000, 0, spec::Transport::tcp);
  spec.hub_down = link_spec("hub", 10, 0.25, spec::Transport::tcp);
  return spec;
}

TEST(Federation, Routes) {
  const BuiltPlatform platform({"", federation(), {}, {}});
  platform.expect_hosts();
  platform.expect_route("hospital-1", "hub", {"hospital-1 up", "hub down"}, 1.25, 10);
  platform.expect_route("hub", "hospital-2", {"hub up", "hospital-2 down"}, 2, 100);
  platform.expect_route("lab", "hub", {"lab up", "hub down"}, 0.75, 10);
  platform.expect_route("hub", "lab", {"hub up", "lab down"}, 0.5, 400);
  // A route between two sites does not use the hub's line.
  platform.expect_route("hospital-1", "hospital-2", {"hospital-1 up", "hospital-2 down"}, 3, 20);
  platform.expect_route("hospital-2", "lab", {"hospital-2 up", "lab down"}, 1.5, 20);
  platform.expect_route("lab", "hospital-1", {"lab up", "hospital-1 down"}, 2.5, 100);
  EXPECT_EQ(platform.node_of("hospital-2"), "hospital-2");
  EXPECT_EQ(platform.node_of("hub"), "hub");
  platform.expect_link("hospital-2 up", federation().sites[0].up);
  platform.expect_link("hospital-2 down", federation().sites[0].down);
  platform.expect_link("hub up", federation().hub_up);
  platform.expect_link("hub down", federation().hub_down);
}

TEST(Federation, AHubWithoutABandwidthHasNoLinks) {
  spec::FederationSpec spec = federation();
  spec.hub_up = spec.hub_down = {};
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_route("hospital-1", "hub", {"hospital-1 up"}, 1, 20);
  platform.expect_route("hub", "hospital-1", {"hospital-1 down"}, 2, 100);
}

// Three phones send to the hub at once; the hub's 10 byte/s are the limit.
TEST(Federation, SitesShareTheHubsLine) {
  spec::FederationSpec spec = federation();
  spec.sites = {{"phone", 3, true, link_spec("up", 20, 1), link_spec("down", 100, 2)}};
  const BuiltPlatform platform({"", spec, {}, {}});
  EXPECT_NEAR(platform.send({{"phone-1", "hub"}, {"phone-2", "hub"}, {"phone-3", "hub"}}, 100), 1.25 + 3 * 100 / 10.0,
              1e-6);
}

TEST(Federation, Hundreds) {
  spec::FederationSpec spec = federation();
  spec.sites[0].count = 1000;
  const BuiltPlatform platform({"", spec, {}, {}});
  platform.expect_hosts();
  platform.expect_route("hospital-1000", "hospital-999", {"hospital-1000 up", "hospital-999 down"}, 3, 20);
}

TEST(Federation, ClassesWithoutSites) {
  spec::FederationSpec spec = federation();
  spec.sites[1].count = 0;
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}), "sites 'lab' have a count of 0; use at least 1");
}

TEST(Federation, ALineWithoutEfficiency) {
  spec::FederationSpec spec = federation();
  spec.sites[1].up.efficiency = 0;
  EXPECT_EQ(failure_to_build({"", spec, {}, {}}),
            "link 'lab up' has an efficiency of 0; use an efficiency above 0, at most 1");
}

}  // namespace
}  // namespace dadsim::sim
