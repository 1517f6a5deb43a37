// Tests that accepted options of `dadsim kernel` change the output.
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
  // 343 Tflop/s were measured (flash-attention, issue 1589).
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
  EXPECT_TRUE(csv.starts_with("kernel,seconds,flop_per_second,share_of_peak\n")) << csv;
  EXPECT_NE(csv.find(kernel["seconds"].dump()), std::string::npos) << csv;
}

TEST(KernelCommand, RefusesLibrariesThatDoNotRun) {
  const test::Outcome outcome =
      run_dadsim({"kernel", "--on", "a100-sxm4-80", "--attention", "64x4096x128", "--library", "flash-3"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("--library flash-2 on a100-sxm4-80"), std::string::npos) << outcome.err;
}

TEST(KernelCommand, TellsDevicesWithoutKernelsFromUnknownOnes) {
  const test::Outcome outcome = run_dadsim({"kernel", "--on", "l40s", "--product", "64x64x64"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("--on 'l40s': no kernel of its generation is known"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("collect-kernels"), std::string::npos) << outcome.err;
  EXPECT_EQ(run_dadsim({"kernel", "--on", "l40", "--product", "64x64x64"}).err.find("generation"), std::string::npos);
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
