// Tests that each accepted option of `dadsim kernel` changes the output.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/process.hpp"

namespace dadsim {
namespace {

using test::run_dadsim;

/// Returns the Tflop/s in the output.
double rate_of(std::vector<std::string> options) {
  options.insert(options.begin(), "kernel");
  const test::Outcome outcome = run_dadsim(options);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::size_t end = outcome.out.find(" Tflop/s");
  if (end == std::string::npos) return 0;
  return std::atof(outcome.out.c_str() + outcome.out.find_last_of(" \n", end - 1) + 1);
}

TEST(KernelCommand, FlashAttention2OnBlackwellIsNotMadeForIt) {
  const std::vector<std::string> attention{"--on", "b200-sxm", "--attention", "64x8192x64"};
  std::vector<std::string> second = attention;
  second.insert(second.end(), {"--library", "flash-2"});
  // flash-attention, issue 1589, measured 343 Tflop/s.
  EXPECT_NEAR(rate_of(second), 343, 0.15 * 343);
  EXPECT_GT(rate_of(attention), 1.5 * rate_of(second));
}

TEST(KernelCommand, SaysTheSameInWordsAndAsData) {
  const std::vector<std::string> product{"--on", "h100-sxm5", "--product", "4096x11008x4096"};
  const double rate = rate_of(product);
  std::vector<std::string> as_json{"kernel", "--json", "-"}, as_csv{"kernel", "--csv", "-"};
  as_json.insert(as_json.end(), product.begin(), product.end());
  as_csv.insert(as_csv.end(), product.begin(), product.end());
  const auto kernel = nlohmann::json::parse(run_dadsim(as_json).out)["kernel"];
  EXPECT_NEAR(kernel["flop_per_second"].get<double>() / 1e12, rate, 0.1);
  EXPECT_NEAR(kernel["seconds"].get<double>() * kernel["flop_per_second"].get<double>(), 2.0 * 4096 * 11008 * 4096, 1);
  const std::string csv = run_dadsim(as_csv).out;
  EXPECT_TRUE(csv.starts_with("kernel,seconds,flop_per_second,share_of_peak,band.low,band.high,measured\n")) << csv;
  EXPECT_NE(csv.find(kernel["seconds"].dump()), std::string::npos) << csv;
}

TEST(KernelCommand, RefusesLibrariesThatDoNotRun) {
  const test::Outcome outcome =
      run_dadsim({"kernel", "--on", "a100-sxm4-80", "--attention", "64x4096x128", "--library", "flash-3"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("--library flash-2 on a100-sxm4-80"), std::string::npos) << outcome.err;
}

nlohmann::json kernel_on(const std::string& device, std::vector<std::string> options) {
  options.insert(options.begin(), {"kernel", "--json", "-", "--on", device});
  const test::Outcome outcome = run_dadsim(options);
  EXPECT_EQ(outcome.exit_code, 0) << device << outcome.err;
  return nlohmann::json::parse(outcome.out);
}

double width_of(const nlohmann::json& kernel) {
  return kernel["band"]["high"].get<double>() / kernel["band"]["low"].get<double>();
}

TEST(KernelCommand, AnswersForDevicesThatNobodyMeasuredWithAWiderBand) {
  const std::vector<std::string> product{"--product", "8192x8192x8192"};
  const double seen = width_of(kernel_on("h100-sxm5", product)["kernel"]);
  for (const char* device : {"t4", "mi300x", "gaudi-3", "tpu-v5e", "rtx-4090", "h100-pcie"}) {
    const nlohmann::json answer = kernel_on(device, product);
    EXPECT_GT(width_of(answer["kernel"]), 1.5 * seen) << device;
    EXPECT_FALSE(answer["kernel"]["measured"].get<bool>()) << device;
    EXPECT_GT(answer["kernel"]["share_of_peak"].get<double>(), 0.3) << device;
    EXPECT_LT(answer["kernel"]["share_of_peak"].get<double>(), 0.9) << device;
  }
  const test::Outcome text = run_dadsim({"kernel", "--on", "t4", "--attention", "16x1024x64", "--backward"});
  EXPECT_NE(text.out.find("no measurement of such kernels on t4 was seen"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("scripts/collect-kernels"), std::string::npos) << text.out;
  EXPECT_TRUE(
      kernel_on("mi300x", {"--product", "8192x8192x8192", "--format", "fp8"})["kernel"]["measured"].get<bool>());
  EXPECT_TRUE(kernel_on("l40s", product)["kernel"]["measured"].get<bool>());
  EXPECT_TRUE(kernel_on("rtx-pro-6000", {"--attention", "32x4096x128"})["kernel"]["measured"].get<bool>());
}

TEST(KernelCommand, TellsMissingFormatsFromUnknownDevices) {
  const test::Outcome without = run_dadsim({"kernel", "--on", "t4", "--product", "64x64x64", "--format", "fp8"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.err.find("t4 has no products in fp8"), std::string::npos) << without.err;
  const test::Outcome unknown = run_dadsim({"kernel", "--on", "l40", "--product", "64x64x64"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("--on 'l40'"), std::string::npos) << unknown.err;
}

TEST(KernelCommand, CountsCastsUnlessToldNotTo) {
  const std::vector<std::string> product{"--on", "h100-sxm5", "--product", "4096x4096x4096", "--format", "fp8"};
  std::vector<std::string> alone = product;
  alone.emplace_back("--no-cast");
  EXPECT_GT(rate_of(alone), 1.1 * rate_of(product));
  EXPECT_EQ(run_dadsim({"kernel", "--on", "h100-sxm5", "--product", "64x64x64", "--no-cast"}).exit_code, 2);
  EXPECT_EQ(run_dadsim({"kernel", "--on", "h100-sxm5", "--attention", "64x64x64", "--no-cast"}).exit_code, 2);
}

}  // namespace
}  // namespace dadsim
