#include "study/measured/calibrate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scenario/document/load.hpp"
#include "scenario/elements/print_parts.hpp"
#include "sim/device.hpp"
#include "spec/workload.hpp"
#include "study/setting/plain_step.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {
namespace {

/// Returns a hypothetical device whose constants differ from those of its class.
spec::DeviceSpec invented_device() {
  spec::DeviceSpec device = sim::device_catalog().at("v100-pcie");
  device.name = "invented";
  device.memory_efficiency = 0.71;
  device.efficiencies = {{spec::LayerKind::convolution, spec::Precision::fp16, 0.47},
                         {spec::LayerKind::dense, spec::Precision::fp16, 0.58}};
  return device;
}

/// Returns a line of measurements: the simulated time of a step on the device × `factor`.
std::string measured_line(const spec::DeviceSpec& device, const std::string& workload, std::int64_t batch,
                          double factor = 1) {
  static const PlainSteps steps;
  const schedule::Schedule schedule =
      steps.of(spec::workload_registry().find(workload)->shape(), batch, spec::Precision::fp16);
  return fmt::format("{},{},fp16,{:.9g}ms\n", workload, batch, 1e3 * factor * seconds_of(device, schedule));
}

std::string read_error(const std::string& text) {
  try {
    (void)read_measurements("m.csv", text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string fit_error(const std::string& text) {
  try {
    (void)calibrate(sim::device_catalog().at("v100-pcie"), read_measurements("m.csv", text), "m.csv");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Calibrate, ThreeStepsOfAnInventedDeviceGiveItsConstantsBack) {
  const spec::DeviceSpec device = invented_device();
  const std::string text = "workload,batch,precision,time\n" + measured_line(device, "resnet-50", 256) +
                           measured_line(device, "bert-base", 64) + measured_line(device, "vgg-16", 64);
  const std::vector<MeasuredDeviceStep> measured = read_measurements("m.csv", text);
  ASSERT_EQ(measured.size(), 3U);
  const Calibration found = calibrate(sim::device_catalog().at("v100-pcie"), measured, "m.csv");
  EXPECT_NEAR(found.device.efficiency(spec::LayerKind::convolution, spec::Precision::fp16) / 0.47, 1, 0.02);
  EXPECT_NEAR(found.device.efficiency(spec::LayerKind::dense, spec::Precision::fp16) / 0.58, 1, 0.02);
  EXPECT_NEAR(found.device.memory_efficiency / 0.71, 1, 0.02);
  EXPECT_LT(found.spread, 1e-3);
  // Three measurements determine exactly three constants.
  EXPECT_EQ(std::ranges::count_if(found.constants, &CalibratedConstant::fitted), 3);
  EXPECT_EQ(found.device.launch_overhead, device.launch_overhead);
  const std::string element = scenario::print_device(found.device);
  EXPECT_NE(element.find("source=\"one's own measurements: resnet-50, bert-base, vgg-16\""), std::string::npos)
      << element;
}

TEST(Calibrate, OneStepTellsOneEfficiencyAndTheRestStays) {
  const spec::DeviceSpec base = sim::device_catalog().at("v100-pcie");
  const std::vector<MeasuredDeviceStep> measured =
      read_measurements("m.csv", "workload,batch,time\nresnet-50,128,300/s\n");
  const Calibration found = calibrate(base, measured, "m.csv");
  EXPECT_NEAR(found.seconds.at(0), 128.0 / 300, 1e-6);
  EXPECT_EQ(std::ranges::count_if(found.constants, &CalibratedConstant::fitted), 1);
  EXPECT_EQ(found.device.memory_efficiency, base.memory_efficiency);
  EXPECT_EQ(found.device.efficiency(spec::LayerKind::dense, spec::Precision::fp32),
            base.efficiency(spec::LayerKind::dense, spec::Precision::fp32));
}

TEST(Calibrate, ContradictionsAreRefusedWithBothLines) {
  EXPECT_EQ(read_error("workload,batch,time\nresnet-50,128,300ms\n# the same again\nresnet-50,128,400ms\n"),
            "m.csv:4: resnet-50 with 128 samples takes 400 ms here and 300 ms in line 2; keep one of the two, or "
            "measure two within 10 %");
  EXPECT_EQ(read_error("workload,batch,time\nresnet-50,128,300ms\nresnet-50,256,250ms\n"),
            "m.csv:3: resnet-50 takes 300 ms with 128 samples (line 2), but only 250 ms with 256 (line 3); "
            "measure again: more samples must take at least as long, within 5 %");
  // No efficiency of convolutions explains both measurements.
  const spec::DeviceSpec device = invented_device();
  const std::string error =
      fit_error("workload,batch,precision,time\n" + measured_line(device, "resnet-50", 128) +
                measured_line(device, "resnet-101", 64, 2) + measured_line(device, "resnet-152", 64) +
                measured_line(device, "resnet-18", 128));
  EXPECT_TRUE(error.starts_with("m.csv:3: resnet-101 with 64 samples in fp16 takes")) << error;
  EXPECT_NE(error.find("no device of this kind does both"), std::string::npos) << error;
  // The measured step is shorter than the device's peak allows.
  EXPECT_NE(fit_error("workload,batch,time\nresnet-50,128,1ms\n").find("the peaks and bandwidth of this device"),
            std::string::npos);
}

/// Returns a line of measurements: the simulated time of a kernel on the device × `factor`.
std::string kernel_line(const spec::DeviceSpec& device, const std::string& kernel, double factor = 1) {
  const schedule::Schedule schedule = schedule_of(parse_measured_kernel(kernel).value(), spec::Precision::fp16);
  return fmt::format("{},fp16,{:.9g}us\n", kernel, 1e6 * factor * seconds_of(device, schedule));
}

TEST(Calibrate, KernelsOfAnInventedDeviceGiveItsConstantsBack) {
  spec::DeviceSpec device = invented_device();
  device.ramp_seconds = 17e-6;
  device.efficiencies.push_back({spec::LayerKind::attention, spec::Precision::fp16, 0.33});
  std::string text = "kernel,precision,time\n";
  // Factors differ, as single kernels scatter more than training steps.
  const std::vector<std::pair<std::string, double>> kernels{
      {"product 8192x4096x1024", 1.02}, {"product 512x1024x2048", 0.99}, {"product 8192x11008x8192", 0.98},
      {"product 777x4096x4096", 1.22},  {"product 4096x4096x8192", 1.0}, {"attention 64x2048x128", 1.0},
      {"attention 32x8192x64", 1.0},    {"pass 536870912", 1.01},        {"pass 268435456", 0.99}};
  for (const auto& [kernel, factor] : kernels) text += kernel_line(device, kernel, factor);
  const std::vector<MeasuredDeviceStep> measured = read_measurements("m.csv", text);
  ASSERT_EQ(measured.size(), 9U);
  const Calibration found = calibrate(sim::device_catalog().at("v100-pcie"), measured, "m.csv");
  // Training steps are assumed to reach 0.70 of the rate of single products, but attention its measured rate.
  EXPECT_NEAR(found.device.efficiency(spec::LayerKind::dense, spec::Precision::fp16) / (0.70 * 0.58), 1, 0.06);
  EXPECT_NEAR(found.device.efficiency(spec::LayerKind::attention, spec::Precision::fp16) / 0.33, 1, 0.06);
  EXPECT_NEAR(found.device.memory_efficiency / 0.71, 1, 0.02);
  EXPECT_NE(scenario::print_device(found.device).find("source=\"one's own measurements: kernels\""), std::string::npos);
}

TEST(Calibrate, KernelsThatCannotBeAreRefused) {
  const spec::DeviceSpec device = invented_device();
  const std::string error = fit_error("kernel,precision,time\n" + kernel_line(device, "product 4096x4096x4096") +
                                      kernel_line(device, "pass 1073741824", 0.1));
  EXPECT_TRUE(error.starts_with("m.csv:3: pass 1073741824 in fp16 takes")) << error;
  EXPECT_NE(error.find("than caches hold"), std::string::npos) << error;
  EXPECT_EQ(read_error("kernel,time,batch\nproduct 1x2x3,1us,4\n"),
            "m.csv:1: unknown column 'batch' in a table of kernels; one of kernel, time, precision");
  EXPECT_EQ(read_error("kernel,precision\n"), "m.csv:1: no column 'time'; put kernel,time in the first line");
  EXPECT_EQ(read_error("kernel,precision,time\nproduct 4096x4096,bf16,1us\nproduct 8x8x8,fp8,1us\npass 0,fp32,1us\n"),
            "m.csv:2: 'product 4096x4096' is not a kernel; write product 4096x11008x4096, attention 64x8192x128 or "
            "pass 1073741824\n"
            "m.csv:3: kernels in fp8 are not supported; use kernels of fp32, tf32, fp16 or bf16, or steps of training\n"
            "m.csv:4: 'pass 0' is not a kernel; write product 4096x11008x4096, attention 64x8192x128 or pass "
            "1073741824");
}

TEST(Calibrate, EverythingWrongWithAFileIsSaidAtOnce) {
  EXPECT_EQ(read_error("workload,batch,time,precision,gpus\nresnet-5,128,300ms,fp32,1\nresnet-50,0,300ms,fp32,1\n"
                       "resnet-50,128,300,fp32,1\nresnet-50,128,300ms,fp31,1\nresnet-50,128,300ms,fp32,8\n"
                       "resnet-50,128\n"),
            "m.csv:2: no workload is called 'resnet-5'; did you mean 'resnet-50'?\n"
            "m.csv:3: batch '0' is not a number of samples; use a whole number from 1 on\n"
            "m.csv:4: time '300' is not a time; give the time of a step with its unit, e.g. 321ms, or samples per "
            "second, e.g. 398/s\n"
            "m.csv:5: no precision is called 'fp31'; did you mean 'fp32'?\n"
            "m.csv:6: a step of 8 GPUs includes messages; use steps of one device\n"
            "m.csv:7: 2 cells for 5 columns; workload,batch,time,precision,gpus");
  EXPECT_EQ(read_error("workload,batches,time\n"),
            "m.csv:1: unknown column 'batches'; did you mean 'batch'?\n"
            "m.csv:1: no column 'batch'; put workload,batch,time in the first line");
  EXPECT_EQ(
      read_error(""),
      "m.csv: no measurements; begin with a line of columns, e.g. workload,batch,time, then a line per measurement");
}

}  // namespace
}  // namespace dadsim::study
