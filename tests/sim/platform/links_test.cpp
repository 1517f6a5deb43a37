#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>

#include "sim/platform.hpp"

namespace dadsim::sim {
namespace {

TEST(Links, EveryEntryIsComplete) {
  std::set<std::string> names;
  for (const spec::LinkSpec& link : link_catalog()) {
    EXPECT_TRUE(names.insert(link.name).second) << link.name << " is there twice";
    EXPECT_GT(link.bandwidth, 1e6) << link.name;
    EXPECT_GT(link.latency, 0) << link.name;
    EXPECT_LT(link.latency, 0.1) << link.name;
    EXPECT_GT(link.efficiency, 0) << link.name;
    EXPECT_LE(link.efficiency, 1) << link.name;
    EXPECT_GE(link.queue_bytes, 3e5) << link.name;
    EXPECT_NE(link.transport, spec::Transport::plain) << link.name;
    // The source of a catalogue link names a year, and its assumptions.
    EXPECT_TRUE(std::regex_search(link.source, std::regex("(19|20)[0-9][0-9]"))) << link.name << ": " << link.source;
    EXPECT_TRUE(link.source.find("assum") != std::string::npos || link.source.find("unverified") != std::string::npos)
        << link.name << ": " << link.source;
    EXPECT_EQ(find_link(link.name), &link);
  }
  EXPECT_EQ(find_link("nvlink-0"), nullptr);
  EXPECT_EQ(find_link(""), nullptr);
}

TEST(Links, PublishedFigures) {
  const auto expect = [](const std::string& name, double bandwidth, spec::Transport transport) {
    const spec::LinkSpec* link = find_link(name);
    ASSERT_NE(link, nullptr) << name;
    EXPECT_DOUBLE_EQ(link->bandwidth, bandwidth) << name;
    EXPECT_EQ(link->transport, transport) << name;
  };
  expect("nvlink-1", 80e9, spec::Transport::nvlink);
  expect("nvlink-2", 150e9, spec::Transport::nvlink);
  expect("nvlink-3", 300e9, spec::Transport::nvlink);
  expect("nvlink-4", 450e9, spec::Transport::nvlink);
  expect("nvlink-5", 900e9, spec::Transport::nvlink);
  expect("pcie-3", 15.75e9, spec::Transport::rdma);
  expect("pcie-5", 63e9, spec::Transport::rdma);
  expect("ib-edr", 12.5e9, spec::Transport::rdma);
  expect("ib-xdr", 100e9, spec::Transport::rdma);
  expect("efa-100", 12.5e9, spec::Transport::rdma);
  expect("roce-400", 50e9, spec::Transport::rdma);
  expect("roce-25", 3.125e9, spec::Transport::rdma);
  expect("opa-100", 12.5e9, spec::Transport::rdma);
  expect("xgmi-mi300x", 64e9, spec::Transport::rdma);
  expect("nvlink-2-cube", 150e9, spec::Transport::nvlink);
  expect("ethernet-1g", 125e6, spec::Transport::tcp);
  expect("ethernet-2.5g", 312.5e6, spec::Transport::tcp);
  expect("ethernet-400g", 50e9, spec::Transport::tcp);
  expect("wifi-6", 1.201e9 / 8, spec::Transport::tcp);
  expect("5g-up", 21.08e6 / 8, spec::Transport::tcp);
  expect("cable-down", 25e6, spec::Transport::tcp);
  expect("fibre-100m", 12.5e6, spec::Transport::tcp);
}

TEST(Links, EthernetLosesTheHeaders) {
  for (const spec::LinkSpec& link : link_catalog()) {
    if (!link.name.starts_with("ethernet-")) continue;
    EXPECT_DOUBLE_EQ(link.efficiency, 1448.0 / 1514) << link.name;
  }
}

TEST(Links, LinesThatDifferByDirectionHaveBoth) {
  for (const spec::LinkSpec& link : link_catalog()) {
    if (!link.name.ends_with("-up")) continue;
    const spec::LinkSpec* down = find_link(link.name.substr(0, link.name.size() - 2) + "down");
    ASSERT_NE(down, nullptr) << link.name;
    EXPECT_GT(down->bandwidth, link.bandwidth) << link.name;
  }
}

TEST(Regions, AllPairsWereMeasured) {
  EXPECT_EQ(region_names().size(), 25U);
  EXPECT_TRUE(std::ranges::is_sorted(region_names()));
  for (const std::string& from : region_names()) {
    for (const std::string& to : region_names()) {
      const auto pair = region_pair(from, to);
      ASSERT_EQ(pair.has_value(), from != to) << from << " → " << to;
      if (!pair) continue;
      EXPECT_EQ(pair->from, from);
      EXPECT_EQ(pair->to, to);
      EXPECT_EQ(pair->transport, spec::Transport::tcp);
      EXPECT_GT(pair->bandwidth, 0.2e9 / 8) << from << " → " << to;
      EXPECT_LT(pair->bandwidth, 30e9 / 8) << from << " → " << to;
      EXPECT_GT(pair->round_trip, 1e-3) << from << " → " << to;
      EXPECT_LT(pair->round_trip, 0.4) << from << " → " << to;
    }
  }
}

// Bandwidths (Gbit/s of payload) and round trips (ms) are Skyplane's, rounded as in its tables.
TEST(Regions, AsMeasured) {
  const auto expect = [](const std::string& from, const std::string& to, double gigabits, double milliseconds) {
    const auto pair = region_pair(from, to);
    ASSERT_TRUE(pair.has_value());
    EXPECT_NEAR(pair->bandwidth * 8 / 1e9, gigabits, 0.0051) << from << " → " << to;
    EXPECT_NEAR(pair->round_trip * 1e3, milliseconds, 0.51) << from << " → " << to;
  };
  expect("aws:us-east-1", "aws:us-west-2", 4.35, 68);
  expect("aws:ap-southeast-1", "aws:sa-east-1", 1.93, 360);
  expect("aws:sa-east-1", "aws:ap-southeast-1", 1.92, 358);
  expect("aws:eu-west-1", "aws:eu-central-1", 4.66, 22);
  expect("aws:ap-northeast-1", "aws:us-east-1", 3.66, 169);
}

TEST(Regions, Unknown) {
  EXPECT_FALSE(region_pair("aws:us-east-1", "aws:us-east-9").has_value());
  EXPECT_FALSE(region_pair("", "aws:us-east-1").has_value());
  EXPECT_FALSE(region_pair("zzz", "aws:us-east-1").has_value());
}

}  // namespace
}  // namespace dadsim::sim
