#include "sim/kernels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "sim/device.hpp"

namespace dadsim::sim {
namespace {

/// Round numbers: 1,000 flop/s with an efficiency of 1/2 and 100 byte/s, of which streaming kernels reach 80.
constexpr KernelRates kRates{1000, 100, 0.8};

ProductKernel plain_kernel() { return {.share = 0.5, .fixed = 3, .depth = 10}; }

TEST(Kernels, AProductTakesItsFixedTimeAndTheLongerOfArithmeticAndBytes) {
  // Arithmetic: 2 · 40 · 30 · 20 flop, 1.5 times as long because the depth is only 20. Bytes: 2 · (800 + 600) read and
  // 2 · 1200 written.
  EXPECT_DOUBLE_EQ(product_seconds(plain_kernel(), kRates, {40, 30, 20}), 3 + 48'000 * 1.5 / 500);
  EXPECT_DOUBLE_EQ(product_seconds(plain_kernel(), {1e9, 100, 0.8}, {40, 30, 20}), 3 + 5200 / 80.0);
  ProductKernel cast = plain_kernel();
  cast.cast = 0.5;
  EXPECT_DOUBLE_EQ(product_seconds(cast, kRates, {40, 30, 20, 1}), 3 + 48'000 * 1.5 / 500 + 3 * 800 / 50.0);
}

TEST(Kernels, TilesAreDealtToUnitsInWaves) {
  ProductKernel kernel = plain_kernel();
  kernel.depth = 0;
  kernel.units = 4;
  kernel.last_wave = 1;
  kernel.halving = 10;  // smaller tiles are too slow to be chosen
  EXPECT_DOUBLE_EQ(shape_factor(kernel, {512, 256, 64}), 1) << "four tiles";
  EXPECT_DOUBLE_EQ(shape_factor(kernel, {513, 256, 64}), 2 * 512 / 513.0) << "five of 128 × 256 in two waves";
  kernel.last_wave = 0.5;
  EXPECT_DOUBLE_EQ(shape_factor(kernel, {513, 256, 64}), 1.625 * 512 / 513.0) << "1.25 waves, and half of the rest";
  kernel.last_wave = 0;
  EXPECT_DOUBLE_EQ(shape_factor(kernel, {513, 256, 64}), 1.25 * 512 / 513.0);
  kernel.halving = 0;  // smaller tiles lose nothing: 9 × 4 tiles of 64 × 64, each an eighth of the largest
  EXPECT_DOUBLE_EQ(shape_factor(kernel, {513, 256, 64}), 36 / 8.0 / 4 * 512 / 513.0);
}

TEST(Kernels, AttentionIsBoundByProductsOrByExponentials) {
  const AttentionKernel kernel{.share = 0.5, .fixed = 1, .length = 100, .exponentials = 0.25, .per_exponential = 16};
  // With ten pairs of query and key, matrix products limit heads of 64, and exponentials limit heads of 4.
  EXPECT_DOUBLE_EQ(attention_flops(10, 64, false), 2560);
  EXPECT_DOUBLE_EQ(attention_seconds(kernel, kRates, {2560, 64, 200}), 1 + 1.5 * 2560 / 500);
  EXPECT_DOUBLE_EQ(attention_seconds(kernel, kRates, {attention_flops(10, 4, false), 4, 200}),
                   1 + 1.5 * 10 * 16 / 0.25 / 1000);
  EXPECT_DOUBLE_EQ(attention_seconds(kernel, kRates, {attention_flops(10, 4, true), 4, 200, true}),
                   1 + 1.5 * 20 * 16 / 0.25 / 1000);
  EXPECT_DOUBLE_EQ(attention_flops(10, 64, true), 6400);
}

TEST(Kernels, RefuseWhatIsNoProduct) {
  EXPECT_THROW(product_seconds(plain_kernel(), kRates, {0, 30, 20}), std::logic_error);
  EXPECT_THROW(attention_seconds({}, kRates, {-1, 64, 200}), std::logic_error);
}

TEST(Kernels, OfTheCatalogueAreKnownInTheirFormats) {
  for (const char* device : {"a100-sxm4-80", "h100-sxm5", "b200-sxm", "mi355x"}) {
    const DeviceKernels kernels = kernels_of(device);
    EXPECT_TRUE(kernels.measured && kernels.steps) << device;
    const std::string& family = kernels.family;
    EXPECT_NE(product_kernel(family, KernelFormat::bits16), nullptr) << device;
    for (const bool backward : {false, true})
      EXPECT_NE(attention_kernel(family, KernelFormat::bits16, backward), nullptr) << device;
  }
  EXPECT_EQ(kernels_of("tpu-v5e").family, spec::kAnyKernels);
  EXPECT_FALSE(kernels_of("tpu-v5e").measured);
  EXPECT_EQ(product_kernel("ampere", KernelFormat::fp8), nullptr);
  EXPECT_FALSE(kernel_rates(*device_catalog().find("a100-sxm4-80"), KernelFormat::fp8));
  // On Hopper, exponentials limit heads of 64, which reach half the rate of heads of 128 (docs/kernels.md).
  const KernelRates h100 = kernel_rates(*device_catalog().find("h100-sxm5"), KernelFormat::bits16).value();
  const AttentionKernel& fused = *attention_kernel("hopper", KernelFormat::bits16, false);
  EXPECT_NEAR(attention_seconds(fused, h100, {1e13, 64, 8192}) / attention_seconds(fused, h100, {1e13, 128, 8192}), 2,
              0.4);
}

TEST(Kernels, EveryFamilyHasProductsInSixteenBitsAndASpread) {
  for (const std::string& family : spec::kernel_families()) {
    const ProductKernel* kernel = product_kernel(family, KernelFormat::bits16);
    if (family == spec::kNoKernels) {
      EXPECT_EQ(kernel, nullptr);
      continue;
    }
    ASSERT_NE(kernel, nullptr) << family;
    EXPECT_TRUE(kernel->spread == 0 || kernel->spread > 1) << family;
    EXPECT_GT(product_kernel(spec::kAnyKernels, KernelFormat::bits16)->spread, 1.5) << "between families";
  }
  for (const spec::DeviceSpec& device : device_catalog().all()) {
    const DeviceKernels kernels = kernels_of(device.name);
    EXPECT_EQ(device.kernels, kernels.steps ? kernels.family : spec::kNoKernels) << device.name;
  }
}

// ---- in a step ----

schedule::ComputeTask task_of(step::Phase phase, double flops, spec::LayerKind kind) {
  schedule::ComputeTask task{phase, step::Role::workers, schedule::PerWorker({flops}), schedule::PerWorker({0.0}),
                             schedule::PerWorker({0.0})};
  task.kind = kind;
  return task;
}

spec::DeviceSpec with_kernels(const std::string& family) {
  spec::DeviceSpec device = *device_catalog().find("h100-sxm5");
  device.kernels = family;
  return device;
}

TEST(Kernels, OfALayerMakeNarrowProductsSlower) {
  const spec::DeviceSpec hopper = with_kernels("hopper");
  const ProductKernel& kernel = *product_kernel("hopper", KernelFormat::bits16);
  schedule::ComputeTask dense = task_of(step::Phase::forward, 2e12, spec::LayerKind::dense);
  dense.shape = {.in = 100, .out = 1000};
  dense.weights = 1e5;
  const double endless = 2e12 / (hopper.bf16_flops * hopper.efficiency(dense.kind, spec::Precision::bf16));
  EXPECT_DOUBLE_EQ(seconds_on(hopper, dense, 0, spec::Precision::bf16),
                   kernel.fixed + endless * (1 + kernel.depth / 100));
  dense.phase = step::Phase::backpropagate;
  EXPECT_DOUBLE_EQ(seconds_on(hopper, dense, 0, spec::Precision::bf16),
                   kernel.fixed + endless * (1 + kernel.depth / 1000));
  dense.phase = step::Phase::weight_gradient;  // the product sums over ten million rows
  EXPECT_NEAR(seconds_on(hopper, dense, 0, spec::Precision::bf16), kernel.fixed + endless, 1e-4 * endless);
  dense.phase = step::Phase::forward;
  const double alone = seconds_on(hopper, dense, 0, spec::Precision::bf16);
  dense.shape = {.in = 100, .out = 1000, .passed_forward = 10};  // 10 bytes for each of 10¹⁰ numbers
  EXPECT_NEAR(seconds_on(hopper, dense, 0, spec::Precision::bf16) - alone,
              1e11 / (hopper.memory_bandwidth * hopper.memory_efficiency), 1e-6);
}

TEST(Kernels, FusedAttentionIsNeverSlowerThanPlain) {
  for (const std::string& family : spec::kernel_families()) {
    const spec::DeviceSpec device = with_kernels(family);
    for (const spec::Precision precision : {spec::Precision::fp16, spec::Precision::bf16}) {
      for (const double seen : {64.0, 512.0, 8192.0}) {
        for (const double skipped : {1.0, 2.0}) {
          for (const step::Phase phase : {step::Phase::forward, step::Phase::backpropagate}) {
            schedule::ComputeTask plain = task_of(phase, 1e11, spec::LayerKind::attention);
            plain.shape = {.head_size = 64, .seen = skipped * seen};
            schedule::ComputeTask fused = plain;
            const double again = phase == step::Phase::backpropagate ? 1.25 : 1;
            fused.flops = schedule::PerWorker({1e11 * again / skipped});
            fused.shape = {.head_size = 64, .seen = seen, .skipped = skipped, .fused = true};
            EXPECT_LE(seconds_on(device, fused, 0, precision), 1.000001 * seconds_on(device, plain, 0, precision))
                << family << ' ' << to_string(precision) << ' ' << seen;
          }
        }
      }
    }
  }
}

// Each attention library has its own kernels. For few scores, plain attention is faster and is used instead.
TEST(Kernels, FusedAttentionOfAProgramIsNeverSlowerThanPlain) {
  const spec::DeviceSpec hopper = with_kernels("hopper");
  for (const spec::FlashLibrary library :
       {spec::FlashLibrary::any, spec::FlashLibrary::flash_2, spec::FlashLibrary::flash_3}) {
    for (const double seen : {8.0, 64.0, 4096.0}) {
      for (const double flops : {1e7, 1e11}) {
        for (const step::Phase phase : {step::Phase::forward, step::Phase::backpropagate}) {
          const bool backward = phase == step::Phase::backpropagate;
          schedule::ComputeTask plain = task_of(phase, flops, spec::LayerKind::attention);
          schedule::KernelShape shape{.head_size = 64, .seen = 2 * seen, .program = spec::Program::eager};
          schedule::ComputeTask fused = plain;
          shape.passed_forward = shape.passed_back = 40;
          plain.shape = shape;
          fused.flops = schedule::PerWorker({flops * (backward ? 1.25 : 1) / 2});
          fused.shape = {.head_size = 64,
                         .seen = seen,
                         .skipped = 2,
                         .fused = true,
                         .library = library,
                         .program = spec::Program::eager,
                         .unfused_forward = 40,
                         .unfused_back = 40};
          EXPECT_LE(seconds_on(hopper, fused, 0, spec::Precision::bf16),
                    1.000001 * seconds_on(hopper, plain, 0, spec::Precision::bf16))
              << to_string(library) << ' ' << seen << ' ' << flops << ' ' << backward;
        }
      }
    }
  }
}

TEST(Kernels, OfALibraryOfAttentionAreItsOwn) {
  const KernelRates h100 = kernel_rates(*device_catalog().find("h100-sxm5"), KernelFormat::bits16).value();
  for (const bool backward : {false, true}) {
    const auto seconds = [&](const char* family, spec::FlashLibrary library) {
      const AttentionKernel& kernel = *attention_kernel(family, KernelFormat::bits16, backward, library);
      return attention_seconds(kernel, h100, {1e13, 128, 2048, backward});
    };
    const double second = seconds("hopper", spec::FlashLibrary::flash_2);
    EXPECT_GT(second, 1.2 * seconds("hopper", spec::FlashLibrary::any));
    EXPECT_GT(second, 1.5 * seconds("hopper", spec::FlashLibrary::flash_3));
    // Measurements distinguish FlashAttention 2 and 3 on Hopper only.
    EXPECT_EQ(seconds("ampere", spec::FlashLibrary::flash_3), seconds("ampere", spec::FlashLibrary::any));
  }
}

TEST(Kernels, OfAProgramAreGapsPassesAndProductsAtTheirOwnShare) {
  const spec::DeviceSpec hopper = with_kernels("hopper");
  const ProductKernel& kernel = *product_kernel("hopper", KernelFormat::bits16);
  schedule::ComputeTask dense = task_of(step::Phase::forward, 2e12, spec::LayerKind::dense);
  dense.launches = schedule::PerWorker({2.0});
  dense.shape = {.in = 100,
                 .out = 1000,
                 .passed_forward = 10,  // 10 passes over 10¹⁰ numbers
                 .program = spec::Program::eager,
                 .passed_once = 1e10,
                 .kernels = 4,
                 .between = 1e-3};
  dense.weights = 1e5;
  const double product = 2e12 / (hopper.bf16_flops * kernel.share) * (1 + kernel.depth / 100);
  const double passes = 1.1e11 / (hopper.memory_bandwidth * hopper.memory_efficiency);
  EXPECT_NEAR(seconds_on(hopper, dense, 0, spec::Precision::bf16), 4e-3 + kernel.fixed + product + passes, 1e-9);
  spec::DeviceSpec own = hopper;
  own.efficiencies = {{spec::LayerKind::dense, spec::Precision::bf16, kernel.share / 2, ""}};
  EXPECT_NEAR(seconds_on(own, dense, 0, spec::Precision::bf16) - seconds_on(hopper, dense, 0, spec::Precision::bf16),
              product, 1e-9)
      << "what a user says comes first";
}

}  // namespace
}  // namespace dadsim::sim
