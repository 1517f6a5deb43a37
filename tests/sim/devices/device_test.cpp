#include "sim/device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>

#include "sim/step/compute_time.hpp"

namespace dadsim::sim {
namespace {

const spec::DeviceSpec& device(const std::string& name) {
  for (const spec::DeviceSpec& spec : device_catalog().all()) {
    if (spec.name == name) return spec;
  }
  throw std::runtime_error("no device " + name);
}

schedule::PerWorker one(double value) { return schedule::PerWorker({value}); }

schedule::ComputeTask task(step::Phase phase, double flops, double bytes, double launches,
                           spec::LayerKind kind = spec::LayerKind::dense) {
  schedule::ComputeTask result{phase, step::Role::workers, one(flops), one(bytes), one(launches)};
  result.kind = kind;
  return result;
}

double seconds(const spec::DeviceSpec& spec, const schedule::ComputeTask& what,
               spec::Precision precision = spec::Precision::fp32) {
  return seconds_on(spec, what, 0, precision);
}

/// Returns a device with round numbers: 100 flop/s with an efficiency of 1/2, 10 byte/s with an efficiency of 1/5, 3 s
/// per kernel.
spec::DeviceSpec plain() {
  return {.name = "d",
          .description = "",
          .peak_flops = 100,
          .memory_bandwidth = 10,
          .matrix_efficiency = 0.5,
          .memory_efficiency = 0.2,
          .launch_overhead = 3,
          .source = ""};
}

TEST(Devices, SaysWhichLibraryAndGenerationItsDevicesHave) {
  using spec::CollectiveLibrary;
  using spec::GpuGeneration;
  const std::tuple<const char*, CollectiveLibrary, GpuGeneration> gpus[] = {
      {"p100-sxm2", CollectiveLibrary::nccl, GpuGeneration::volta},
      {"t4", CollectiveLibrary::nccl, GpuGeneration::volta},
      {"rtx-2080-ti", CollectiveLibrary::nccl, GpuGeneration::volta},
      {"rtx-3090", CollectiveLibrary::nccl, GpuGeneration::ampere},
      {"l40s", CollectiveLibrary::nccl, GpuGeneration::ampere},
      {"h100-sxm5", CollectiveLibrary::nccl, GpuGeneration::hopper},
      {"rtx-5090", CollectiveLibrary::nccl, GpuGeneration::blackwell}};
  for (const auto& [name, library, generation] : gpus) {
    EXPECT_EQ(device(name).library, library) << name;
    EXPECT_EQ(device(name).generation, generation) << name;
  }
  EXPECT_EQ(device("mi300x").library, CollectiveLibrary::rccl);
  for (const char* name : {"epyc-9654", "jetson-nano", "apple-m2"}) {
    EXPECT_EQ(device(name).library, CollectiveLibrary::mpi) << name;
  }
  EXPECT_EQ(device("trainium-2").library, std::nullopt);
}

TEST(Devices, TheCatalogueIsComplete) {
  std::set<std::string> names;
  for (const spec::DeviceSpec& spec : device_catalog().all()) {
    SCOPED_TRACE(spec.name);
    EXPECT_TRUE(names.insert(spec.name).second);
    EXPECT_FALSE(spec.description.empty());
    EXPECT_NE(spec.source.find("20"), std::string::npos);  // the source names a year
    EXPECT_NE(spec.source.find("assumption"), std::string::npos);
    EXPECT_FALSE(spec.precisions().empty());
    for (const spec::Precision precision : spec::kPrecisions) {
      if (spec.peak(precision) == 0) continue;
      EXPECT_GT(spec.peak(precision), 1e11);
      EXPECT_GE(spec.peak(precision), spec.peak_flops);
      EXPECT_GT(seconds(spec, task(step::Phase::forward, 1e12, 1e9, 2), precision), 0);
    }
    EXPECT_GT(spec.memory_bandwidth, 2e10);
    EXPECT_GT(spec.launch_overhead, 0);
    EXPECT_GT(spec.ramp_seconds, 0);
    for (const spec::KindEfficiency& efficiency : spec.efficiencies) {
      EXPECT_GT(efficiency.share, 0.1);
      EXPECT_LT(efficiency.share, 1);
      EXPECT_NE(efficiency.source.find_first_of("0123456789"), std::string::npos);
      ASSERT_TRUE(efficiency.precision);
      EXPECT_GT(spec.peak(*efficiency.precision), 0);
    }
  }
  for (const char* name : {"k80",
                           "p100-sxm2",
                           "v100-sxm2",
                           "v100-pcie",
                           "t4",
                           "a10",
                           "a10g",
                           "a30",
                           "a40",
                           "rtx-a6000",
                           "l40s",
                           "a100-sxm4-40",
                           "a100-sxm4-80",
                           "a100-pcie-40",
                           "a100-pcie-80",
                           "h100-sxm5",
                           "h100-pcie",
                           "h200-sxm",
                           "gh200-96",
                           "b200-sxm",
                           "gb200",
                           "b300",
                           "mi250x",
                           "mi300x",
                           "mi325x",
                           "mi355x",
                           "tpu-v4",
                           "tpu-v5e",
                           "tpu-v5p",
                           "tpu-v6e",
                           "gaudi-2",
                           "gaudi-3",
                           "titan-x-maxwell",
                           "rtx-3090",
                           "rtx-4090",
                           "rtx-5090",
                           "gtx-1080-ti",
                           "rtx-2080-ti",
                           "jetson-nano",
                           "jetson-tx2",
                           "jetson-xavier-nx",
                           "jetson-agx-orin-64",
                           "xeon-8380",
                           "xeon-8480",
                           "epyc-7763",
                           "epyc-9654",
                           "snapdragon-865",
                           "snapdragon-8-gen-2",
                           "apple-a16",
                           "apple-m2"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Devices, WhatADeviceHas) {
  EXPECT_EQ(device("a100-sxm4-40").precisions(), "fp32, tf32, fp16 and bf16");
  EXPECT_EQ(device("v100-sxm2").precisions(), "fp32 and fp16");
  EXPECT_EQ(device("tpu-v4").precisions(), "bf16");
  EXPECT_EQ(device("h100-sxm5").precisions(), "fp32, tf32, fp16, bf16 and fp8");
  EXPECT_EQ(device("v100-sxm2").memory_bytes, 16.0 * (1 << 30));
  EXPECT_EQ(device("snapdragon-865").memory_bytes, 0);
}

TEST(Devices, MatrixProductsOfAnA100) {
  // The product has 4096³ multiply-adds of 2 flop and three matrices of 4 bytes per element; arithmetic limits it.
  const spec::DeviceSpec& a100 = device("a100-sxm4-40");
  const double n = 4096;
  const double flops = 2 * n * n * n;
  const schedule::ComputeTask product = task(step::Phase::weight_gradient, flops, 3 * n * n * 4, 1);
  EXPECT_DOUBLE_EQ(seconds(a100, product), 5e-6 + (flops + 19.5e12 * 10e-6) / (19.5e12 * 0.72));
  EXPECT_NEAR(seconds(a100, product), 9.8e-3, 0.1e-3);
  EXPECT_DOUBLE_EQ(seconds(a100, product, spec::Precision::bf16), 5e-6 + (flops + 312e12 * 10e-6) / (0.701 * 312e12));
}

// FP8 runs dense layers with a weight matrix at 1,402.6 Tflop/s; all other work takes as long as in bf16.
TEST(Devices, EightBitsAreForDenseLayersAlone) {
  const spec::DeviceSpec& h100 = device("h100-sxm5");
  const double flops = 1e15;
  schedule::ComputeTask product = task(step::Phase::weight_gradient, flops, 0, 1);
  product.weights = 4096.0 * 4096;
  EXPECT_DOUBLE_EQ(seconds(h100, product, spec::Precision::fp8), 5e-6 + (flops + 1979e12 * 10e-6) / (0.7 * 1402.6e12));
  EXPECT_DOUBLE_EQ(seconds(h100, product, spec::Precision::bf16), 5e-6 + (flops + 989e12 * 10e-6) / (0.46 * 989e12));
  product.weights = 0;
  EXPECT_EQ(seconds(h100, product, spec::Precision::fp8), seconds(h100, product, spec::Precision::bf16));
  const schedule::ComputeTask attention = task(step::Phase::forward, flops, 0, 1, spec::LayerKind::attention);
  EXPECT_EQ(seconds(h100, attention, spec::Precision::fp8), seconds(h100, attention, spec::Precision::bf16));
}

TEST(Devices, PassesOverMemoryOfAnA100) {
  EXPECT_DOUBLE_EQ(seconds(device("a100-sxm4-40"), task(step::Phase::add, 1e8, 1.2e9, 3)),
                   3 * 5e-6 + 1.2e9 / (1555e9 * 0.85));
}

TEST(Devices, TheRooflineTakesTheLowerCeiling) {
  const spec::DeviceSpec spec = plain();
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::forward, 100, 0, 0)), 2);
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::forward, 100, 8, 0)), 4);
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::forward, 100, 8, 2)), 10);
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::update, 200, 8, 0)), 4);
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::update, 400, 8, 0)),
                   8);  // 400 flop at half of the peak of 100 flop/s
  EXPECT_EQ(seconds(spec, task(step::Phase::update, 0, 0, 0)), 0);
}

TEST(Devices, KindsAndPrecisionsHaveTheirOwnEfficiencies) {
  spec::DeviceSpec spec = plain();
  spec.fp16_flops = 1000;
  spec.efficiencies = {{spec::LayerKind::convolution, {}, 0.4, ""},
                       {spec::LayerKind::convolution, spec::Precision::fp16, 0.2, ""}};
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::forward, 1000, 0, 0)), 20);
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::forward, 1000, 0, 0, spec::LayerKind::attention)), 20);
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::forward, 1000, 0, 0, spec::LayerKind::convolution)), 25);
  EXPECT_DOUBLE_EQ(
      seconds(spec, task(step::Phase::forward, 1000, 0, 0, spec::LayerKind::convolution), spec::Precision::fp16), 5);
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::forward, 1000, 0, 0), spec::Precision::fp16), 2);
  // Norms, gates and compression do not use tensor cores.
  EXPECT_DOUBLE_EQ(
      seconds(spec, task(step::Phase::forward, 1000, 0, 0, spec::LayerKind::normalisation), spec::Precision::fp16), 20);
  EXPECT_DOUBLE_EQ(
      seconds(spec, task(step::Phase::factorise, 1000, 0, 0, spec::LayerKind::convolution), spec::Precision::fp16), 20);
  EXPECT_THROW(seconds(spec, task(step::Phase::forward, 1, 0, 0), spec::Precision::bf16), std::logic_error);
  EXPECT_NO_THROW(seconds(spec, task(step::Phase::add, 1, 0, 0), spec::Precision::bf16));  // an aggregator may lack
                                                                                           // 16-bit arithmetic
}

TEST(Devices, SmallProductsReachLess) {
  spec::DeviceSpec spec = plain();
  spec.ramp_seconds = 2;  // a product of 200 flop reaches half of its full rate
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::forward, 200, 0, 0)), 200 / (50 * 0.5));
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::forward, 600, 0, 0)), 600 / (50 * 0.75));
  EXPECT_DOUBLE_EQ(seconds(spec, task(step::Phase::update, 200, 0, 0)), 4);
  EXPECT_EQ(seconds(spec, task(step::Phase::forward, 0, 0, 0)), 0);
}

TEST(Devices, ARecurrenceIsManySmallProducts) {
  spec::DeviceSpec spec = plain();
  spec.ramp_seconds = 2;
  schedule::ComputeTask whole = task(step::Phase::forward, 1000, 0, 0);
  const double at_once = seconds(spec, whole);
  whole.sequential = 10;
  EXPECT_DOUBLE_EQ(at_once, 1200.0 / 50);
  EXPECT_DOUBLE_EQ(seconds(spec, whole), (1000.0 + 10 * 200) / 50);  // each of the ten products has its own ramp
}

TEST(Devices, FewerRowsThanATileTakeAsLongAsATile) {
  spec::DeviceSpec spec = plain();
  spec.tile_rows = 16;
  schedule::ComputeTask product = task(step::Phase::forward, 0, 0, 0);
  product.weights = 50;
  const auto with_rows = [&](double rows, step::Phase phase) {
    product.phase = phase;
    product.flops = one(2 * rows * product.weights);
    return seconds(spec, product);
  };
  EXPECT_DOUBLE_EQ(with_rows(16, step::Phase::forward), 32);
  EXPECT_DOUBLE_EQ(with_rows(1, step::Phase::forward), 32);
  EXPECT_DOUBLE_EQ(with_rows(1, step::Phase::backpropagate), 32);
  EXPECT_DOUBLE_EQ(with_rows(32, step::Phase::forward), 64);
  EXPECT_DOUBLE_EQ(with_rows(1, step::Phase::weight_gradient), 2);  // in this product the rows are summed over, so none
                                                                    // are padded
}

TEST(Devices, ThreeByThreeConvolutionsTakeFewerMultiplicationsInFp32) {
  spec::DeviceSpec spec = plain();
  spec.fp16_flops = 100;
  spec.winograd_share = 0.5;
  schedule::ComputeTask convolution = task(step::Phase::forward, 100, 0, 0, spec::LayerKind::convolution);
  EXPECT_DOUBLE_EQ(seconds(spec, convolution), 2);
  convolution.overlap = 9;
  EXPECT_DOUBLE_EQ(seconds(spec, convolution), 1);
  EXPECT_DOUBLE_EQ(seconds(spec, convolution, spec::Precision::fp16), 2);
  convolution.overlap = 9.0 / 4;  // a stride of two
  EXPECT_DOUBLE_EQ(seconds(spec, convolution), 2);
}

TEST(Devices, TwiceTheBatchNeverTakesLess) {
  for (const spec::DeviceSpec& spec : device_catalog().all()) {
    for (const spec::Precision precision : spec::kPrecisions) {
      if (spec.peak(precision) == 0) continue;
      double last = 0;
      for (double rows = 1; rows <= 4096; rows *= 2) {
        schedule::ComputeTask product = task(step::Phase::forward, 2 * rows * 1e6, 4 * (1e6 + 2e3 * rows), 2);
        product.weights = 1e6;
        const double now = seconds(spec, product, precision);
        EXPECT_GE(now, last) << spec.name;
        last = now;
      }
    }
  }
}

TEST(Devices, NoAmountWithoutSense) {
  const spec::DeviceSpec& a100 = device("a100-sxm4-40");
  EXPECT_THROW(seconds(a100, task(step::Phase::forward, -1, 0, 0)), std::logic_error);
  EXPECT_THROW(seconds(a100, task(step::Phase::forward, std::numeric_limits<double>::quiet_NaN(), 0, 0)),
               std::logic_error);
  EXPECT_THROW(seconds(a100, task(step::Phase::forward, 0, std::numeric_limits<double>::infinity(), 0)),
               std::logic_error);
  EXPECT_THROW(seconds(spec::DeviceSpec{}, task(step::Phase::forward, 1, 1, 1)), std::logic_error);
}

TEST(Devices, AMeasuredStepIsDividedByTheRoofline) {
  spec::DeviceSpec spec = plain();
  spec.step_seconds = 10;
  schedule::Schedule schedule;
  schedule.workers = 1;
  schedule.tasks = {{"a", task(step::Phase::forward, 150, 0, 0)}, {"b", task(step::Phase::update, 50, 0, 0)}};
  const std::vector<const spec::DeviceSpec*> devices{&spec};
  const ComputeTime time(devices, schedule);
  EXPECT_DOUBLE_EQ(time.seconds(0, std::get<schedule::ComputeTask>(schedule.tasks[0].what), 0), 7.5);
  EXPECT_DOUBLE_EQ(time.seconds(0, std::get<schedule::ComputeTask>(schedule.tasks[1].what), 0), 2.5);
}

}  // namespace
}  // namespace dadsim::sim
