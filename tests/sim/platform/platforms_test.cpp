#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "sim/platform.hpp"
#include "sim/platform/engine.hpp"
#include "sim/process/compat.hpp"
#include "sim/star.hpp"

// Tests every link on routes of the platforms that come with dadsim. SimGrid silently drops links if zones are nested
// in certain ways. Each test loads one platform in its own process.

namespace dadsim::sim {
namespace {

namespace sg4 = simgrid::s4u;

std::string shipped(const std::string& name) { return std::string(DADSIM_SOURCE_DIR) + "/platforms/" + name; }

class Platform {
 public:
  explicit Platform(const std::string& name) : engine_(load_engine(test::platform_file(shipped(name)))) {}

  void expect_route(const std::string& from, const std::string& to, const std::vector<std::string>& names,
                    double latency, double bandwidth) const {
    std::vector<sg4::Link*> links;
    double seconds = 0;
    engine_->host_by_name(from)->route_to(engine_->host_by_name(to), links, &seconds);
    std::vector<std::string> found;
    double narrowest = 1e300;
    for (const sg4::Link* link : links) {
      found.push_back(link->get_name());
      narrowest = std::min(narrowest, link->get_bandwidth());
    }
    EXPECT_EQ(found, names) << from << " → " << to;
    EXPECT_DOUBLE_EQ(seconds, latency) << from << " → " << to;
    EXPECT_DOUBLE_EQ(narrowest, bandwidth) << from << " → " << to;
  }

 private:
  std::unique_ptr<sg4::Engine> engine_;
};

TEST(Platforms, Hospitals) {
  const Platform platform("hospitals.xml");
  const double ms[] = {8, 10, 15, 5, 12};
  const double up[] = {20e6, 20e6, 10e6, 20e6, 10e6};       // bit/s
  const double down[] = {100e6, 100e6, 50e6, 100e6, 50e6};  // bit/s
  for (int i = 0; i < 5; ++i) {
    const std::string name = fmt::format("hospital-{}", i + 1);
    platform.expect_route(name, "hub", {name + "-up", "hub-in"}, ms[i] / 1e3, up[i] / 8);
    platform.expect_route("hub", name, {"hub-out", name + "-down"}, ms[i] / 1e3, down[i] / 8);
    for (int j = 0; j < 5; ++j) {
      if (i == j) continue;
      const std::string other = fmt::format("hospital-{}", j + 1);
      platform.expect_route(name, other, {name + "-up", other + "-down"}, ms[i] / 1e3 + ms[j] / 1e3, up[i] / 8);
    }
  }
}

TEST(Platforms, TwoSites) {
  const Platform platform("two-sites.xml");
  for (const char* i : {"1", "2"}) {
    platform.expect_route(fmt::format("site-{}", i), "hub", {fmt::format("line-{}_UP", i)}, 0.01, 125e6);
    platform.expect_route("hub", fmt::format("site-{}", i), {fmt::format("line-{}_DOWN", i)}, 0.01, 125e6);
  }
  platform.expect_route("site-1", "site-2", {"line-1_UP", "line-2_DOWN"}, 0.02, 125e6);
  platform.expect_route("site-2", "site-1", {"line-2_UP", "line-1_DOWN"}, 0.02, 125e6);
}

TEST(Platforms, Infiniband) {
  const Platform platform("infiniband.xml");
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      if (i == j) continue;
      const bool inside = i / 8 == j / 8;
      const char* name = inside ? "nvlink" : "hdr";
      platform.expect_route(fmt::format("gpu-{}", i), fmt::format("gpu-{}", j),
                            {fmt::format("{}-{}_UP", name, i), fmt::format("{}-{}_DOWN", name, j)},
                            inside ? 1e-6 : 1.2e-6, inside ? 300e9 : 25e9);
    }
  }
}

TEST(Platforms, AllPassTheCheck) {
  const auto expect_clean = [](const std::string& name, const std::vector<std::string>& hosts) {
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) pairs.emplace_back(i, j);
    }
    const PlatformFindings findings = check_platform(test::platform_file(shipped(name)), hosts, pairs);
    EXPECT_TRUE(findings.file_errors.empty()) << to_string(findings.file_errors.at(0));
    EXPECT_EQ(findings.host_errors, std::vector<std::string>(hosts.size()));
    EXPECT_TRUE(findings.route_errors.empty()) << findings.route_errors.at(0);
  };
  expect_clean("hospitals.xml", {"hospital-1", "hospital-2", "hospital-3", "hospital-4", "hospital-5", "hub"});
  expect_clean("two-sites.xml", {"site-1", "site-2", "hub"});
  std::vector<std::string> gpus;
  for (int i = 0; i < 16; ++i) gpus.push_back(fmt::format("gpu-{}", i));
  expect_clean("infiniband.xml", gpus);
}

}  // namespace
}  // namespace dadsim::sim
