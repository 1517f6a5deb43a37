#include <gtest/gtest.h>

#include <algorithm>

#include "sim/platform.hpp"
#include "sim/platform/by_number.hpp"
#include "sim/star.hpp"

namespace dadsim::sim {
namespace {

std::vector<std::string> names_of(const std::vector<PlatformHost>& hosts) {
  std::vector<std::string> names;
  for (const PlatformHost& host : hosts) names.push_back(host.name);
  return names;
}

TEST(PlatformHosts, OfAFileAreInTheOrderOfTheirNumbers) {
  const test::TemporaryFile file(test::Star{.workers = 12}.xml());
  spec::PlatformSpec platform;
  platform.what = spec::PlatformFileSpec{file.path(), spec::Transport::plain};
  const std::vector<PlatformHost> hosts = platform_hosts(platform);
  EXPECT_EQ(names_of(hosts), (std::vector<std::string>{"hub", "w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8",
                                                       "w9", "w10", "w11"}));
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_EQ(hosts[i].node, static_cast<std::int32_t>(i));
}

TEST(PlatformHosts, OfADeclaredPlatformAreAsTheyAreBuiltNodeByNode) {
  spec::GpuClusterSpec cluster;
  cluster.nodes = 3;
  cluster.gpus = 4;
  cluster.port = cluster.nic = {.name = "line", .bandwidth = 1e9, .latency = 1e-6, .source = ""};
  spec::PlatformSpec platform;
  platform.what = cluster;
  const std::vector<PlatformHost> hosts = platform_hosts(platform);
  EXPECT_EQ(names_of(hosts), host_names(platform));
  ASSERT_EQ(hosts.size(), 12U);
  for (std::size_t i = 0; i < hosts.size(); ++i) EXPECT_EQ(hosts[i].node, static_cast<std::int32_t>(i / 4));
}

TEST(PlatformHosts, ThatCannotBeBuiltAreAnError) {
  spec::PlatformSpec platform;
  platform.what = spec::PlatformFileSpec{"/nowhere/platform.xml", spec::Transport::plain};
  EXPECT_THROW(platform_hosts(platform), std::runtime_error);
}

TEST(PlatformHosts, RunsOfDigitsCountAsNumbers) {
  const std::vector<std::string> right{"", "a", "a1b9", "a1b10", "a1c", "a2", "a02b", "a2c", "a10", "b"};
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (std::size_t j = 0; j < right.size(); ++j) {
      EXPECT_EQ(before_by_number(right[i], right[j]), i < j) << right[i] << " " << right[j];
    }
  }
  EXPECT_NE(before_by_number("a1", "a01"), before_by_number("a01", "a1"));
}

}  // namespace
}  // namespace dadsim::sim
