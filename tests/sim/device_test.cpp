#include "sim/device.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <stdexcept>
#include <string>

namespace dadsim {
namespace {

const DeviceSpec& device(const std::string& name) {
  for (const DeviceSpec& spec : device_catalog()) {
    if (spec.name == name) return spec;
  }
  throw std::runtime_error("no device " + name);
}

TEST(Devices, TheCatalogueIsComplete) {
  std::set<std::string> names;
  for (const DeviceSpec& spec : device_catalog()) {
    SCOPED_TRACE(spec.name);
    EXPECT_TRUE(names.insert(spec.name).second);
    EXPECT_NE(spec.description.find("fp32"), std::string::npos);
    EXPECT_NE(spec.source.find("20"), std::string::npos);  // a year
    EXPECT_NE(spec.source.find("assumption"), std::string::npos);
    EXPECT_GT(spec.peak_flops, 1e12);
    EXPECT_GT(spec.memory_bandwidth, 1e11);
    EXPECT_GT(spec.matrix_efficiency, 0);
    EXPECT_LE(spec.matrix_efficiency, 1);
    EXPECT_GT(spec.memory_efficiency, 0);
    EXPECT_LE(spec.memory_efficiency, 1);
    EXPECT_GT(spec.launch_overhead, 0);
  }
  EXPECT_EQ(names, (std::set<std::string>{"v100-sxm2", "a100-sxm4-40", "a100-sxm4-80", "h100-sxm5", "rtx-3090",
                                          "rtx-4090", "xeon-8380"}));
}

TEST(Devices, MatrixProductsOfAnA100) {
  // 4096³ multiply-adds, 2 flop each; 3 matrices of 4 bytes an element: limited by arithmetic.
  const DeviceSpec& a100 = device("a100-sxm4-40");
  const double n = 4096;
  const double seconds = seconds_on(a100, Phase::forward, 2 * n * n * n, 3 * n * n * 4, 1);
  EXPECT_DOUBLE_EQ(seconds, 5e-6 + 2 * n * n * n / (19.5e12 * 0.8));
  EXPECT_NEAR(seconds, 8.8e-3, 0.1e-3);
}

TEST(Devices, PassesOverMemoryOfAnA100) {
  const DeviceSpec& a100 = device("a100-sxm4-40");
  EXPECT_DOUBLE_EQ(seconds_on(a100, Phase::add, 1e8, 1.2e9, 3), 3 * 5e-6 + 1.2e9 / (1555e9 * 0.85));
}

TEST(Devices, TheRooflineTakesTheLowerCeiling) {
  const DeviceSpec spec{.name = "d",
                        .description = "",
                        .peak_flops = 100,
                        .memory_bandwidth = 10,
                        .matrix_efficiency = 0.5,
                        .memory_efficiency = 0.2,
                        .launch_overhead = 3,
                        .source = ""};
  EXPECT_DOUBLE_EQ(seconds_on(spec, Phase::forward, 100, 0, 0), 2);
  EXPECT_DOUBLE_EQ(seconds_on(spec, Phase::forward, 100, 8, 0), 4);
  EXPECT_DOUBLE_EQ(seconds_on(spec, Phase::forward, 100, 8, 2), 10);
  EXPECT_DOUBLE_EQ(seconds_on(spec, Phase::update, 200, 8, 0), 4);
  EXPECT_DOUBLE_EQ(seconds_on(spec, Phase::update, 400, 8, 0), 8);  // half of the peak, whatever the matrix efficiency
  EXPECT_EQ(seconds_on(spec, Phase::update, 0, 0, 0), 0);
}

TEST(Devices, NoAmountWithoutSense) {
  const DeviceSpec& a100 = device("a100-sxm4-40");
  EXPECT_THROW(seconds_on(a100, Phase::forward, -1, 0, 0), std::logic_error);
  EXPECT_THROW(seconds_on(a100, Phase::forward, std::numeric_limits<double>::quiet_NaN(), 0, 0), std::logic_error);
  EXPECT_THROW(seconds_on(a100, Phase::forward, 0, std::numeric_limits<double>::infinity(), 0), std::logic_error);
  EXPECT_THROW(seconds_on(DeviceSpec{}, Phase::forward, 1, 1, 1), std::logic_error);
}

}  // namespace
}  // namespace dadsim
