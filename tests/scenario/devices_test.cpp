// Tests <device>, the precision of a run, and the check that devices support this precision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "scenario/document/load.hpp"
#include "scenario/fake_catalog.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

constexpr const char* kDevice =
    R"(<device name="mine" peak-flops="10TF" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us")";

/// Loads a scenario of two workers with the device `mine`.
scenario::Scenario load(const std::string& device, const std::string& more = "",
                        const std::string& workers = "<workers>") {
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  const std::string path = folder.write(
      "scenario.xml", "<scenario name=\"Test\">\n<platform file=\"platform.xml\"/>\n" + device + "\n" + workers +
                          "\n<worker hosts=\"site-1 site-2\" device=\"mine\"/></workers><data><digits/></data><model>"
                          "<dense units=\"10\"/></model>\n" +
                          more + "<run algorithm=\"dad\"/></scenario>");
  return load_scenario(path, {}, fake_catalog());
}

std::vector<std::string> errors_of(const std::string& device, const std::string& more = "") {
  std::vector<std::string> errors;
  try {
    load(device, more);
  } catch (const InputError& error) {
    for (const Diagnostic& one : error.diagnostics())
      errors.push_back(fmt::format("{}: {}; {}", one.line, one.what, one.remedy));
  }
  return errors;
}

TEST(DeviceElement, HasDefaultsThatChangeNothing) {
  const spec::DeviceSpec device = load(kDevice + std::string("/>")).devices.at(0);
  EXPECT_EQ(device.precisions(), "fp32");
  EXPECT_EQ(device.memory_bytes, 0);
  EXPECT_EQ(device.power, 0);
  EXPECT_EQ(device.ramp_seconds, 0);
  EXPECT_EQ(device.tile_rows, 1);
  EXPECT_EQ(device.winograd_share, 1);
  EXPECT_EQ(device.efficiency(spec::LayerKind::convolution, spec::Precision::fp32), 0.4);
}

TEST(DeviceElement, TakesEveryAttribute) {
  const scenario::Scenario scenario =
      load(kDevice + std::string(R"( tf32-flops="20TF" fp16-flops="40TF" bf16-flops="41TF"
      memory="16000MB" watts="250" ramp-time="7us" tile-rows="32" winograd-share="0.5">
    <efficiency of="convolution" share="0.3" source="one's own measurements: resnet-50"/>
    <efficiency of="convolution" precision="fp16" share="0.2"/>
    <efficiency of="dense" precision="bf16" share="0.6"/>
  </device>)"));
  const spec::DeviceSpec& device = scenario.devices.at(0);
  EXPECT_EQ(device.precisions(), "fp32, tf32, fp16 and bf16");
  EXPECT_DOUBLE_EQ(device.peak(spec::Precision::bf16), 41e12);
  EXPECT_DOUBLE_EQ(device.memory_bytes, 16e9);
  EXPECT_EQ(device.power, 250);
  EXPECT_DOUBLE_EQ(device.ramp_seconds, 7e-6);
  EXPECT_EQ(device.tile_rows, 32);
  EXPECT_EQ(device.winograd_share, 0.5);
  EXPECT_EQ(device.efficiency(spec::LayerKind::convolution, spec::Precision::fp32), 0.3);
  EXPECT_EQ(device.efficiencies.at(0).source, "one's own measurements: resnet-50");
  EXPECT_EQ(device.efficiencies.at(1).source, "");
  EXPECT_EQ(device.efficiency(spec::LayerKind::convolution, spec::Precision::fp16), 0.2);
  EXPECT_EQ(device.efficiency(spec::LayerKind::dense, spec::Precision::bf16), 0.6);
  EXPECT_EQ(device.efficiency(spec::LayerKind::dense, spec::Precision::fp16), 0.4);

  // The printed device is read back as an equal device.
  const std::string printed = scenario::print_scenario(scenario);
  const std::size_t begin = printed.find("<device");
  const std::size_t end = printed.find("</device>") + 9;
  const std::string again = print_scenario(load(printed.substr(begin, end - begin)));
  EXPECT_NE(again.find(printed.substr(begin, end - begin)), std::string::npos);
}

TEST(DeviceElement, NeedsAPeakButNotFp32) {
  constexpr const char* kNoPeak =
      R"(<device name="mine" memory-bandwidth="300GBps" matrix-efficiency="0.4" memory-efficiency="0.7" launch-overhead="10us")";
  EXPECT_EQ(errors_of(kNoPeak + std::string("/>")),
            std::vector<std::string>{"3: <device> lacks 'peak-flops'; flop/s above 0 with their unit, e.g. 10TF"});
  const std::string tpu = kNoPeak + std::string(R"( bf16-flops="40TF"/>)");
  EXPECT_EQ(load(tpu, R"(<timed-as precision="bf16"/>)").devices.at(0).peak_flops, 0);
}

TEST(DeviceElement, ARunNeedsThePrecisionOfItsDevices) {
  const std::string both = kDevice + std::string(R"( fp16-flops="40TF"/>)");
  EXPECT_EQ(load(both, R"(<timed-as precision="fp16"/>)").timed_as->precision, spec::Precision::fp16);
  EXPECT_EQ(
      errors_of(both, R"(<timed-as precision="bf16"/>)"),
      std::vector<std::string>{
          "6: device 'mine' has no bf16; set <timed-as precision=\"…\"> to a precision of the device: fp32 and fp16"});
  // Devices of the catalogue are checked too.
  scenario::Catalog catalog = fake_catalog();
  spec::DeviceSpec tpu{.name = "rtx-3090", .description = "", .source = ""};
  tpu.bf16_flops = 1e12;
  catalog.device_specs = {tpu};
  const TemporaryFolder folder;
  folder.write("platform.xml", fake_platform());
  const std::string path =
      folder.write("scenario.xml",
                   "<scenario name=\"Test\"><platform file=\"platform.xml\"/><workers><worker hosts=\"site-1 site-2\" "
                   "device=\"rtx-3090\"/></workers><data><digits/></data><model><dense units=\"10\"/></model><run "
                   "algorithm=\"dad\"/></scenario>");
  try {
    scenario::load_scenario(path, {}, catalog);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("device 'rtx-3090' has no fp32"), std::string::npos) << error.what();
  }
}

TEST(DeviceElement, ComplainsAboutEachEfficiency) {
  const std::vector<std::string> errors = errors_of(kDevice + std::string(R"(>
    <efficiency of="convolution" share="0.3"/>
    <efficiency of="convolution" share="0.2"/>
    <efficiency of="norm" share="0.2"/>
    <efficiency share="0.2"/>
    <efficiency of="dense" share="1.5"/>
  </device>)"));
  ASSERT_EQ(errors.size(), 4U);
  EXPECT_TRUE(errors[0].starts_with("5: <efficiency> is given twice for the same products")) << errors[0];
  EXPECT_TRUE(errors[1].starts_with("6: of=\"norm\" of <efficiency>")) << errors[1];
  EXPECT_TRUE(errors[2].starts_with("7: <efficiency> lacks 'of'")) << errors[2];
  EXPECT_TRUE(errors[3].starts_with("8: share=\"1.5\" of <efficiency>")) << errors[3];
}

TEST(DeviceElement, MemoryIsCheckedUnlessTheWorkersSayOtherwise) {
  EXPECT_FALSE(load(kDevice + std::string("/>")).ignore_memory);
  const scenario::Scenario ignoring = load(kDevice + std::string("/>"), "", "<workers memory=\"ignore\">");
  EXPECT_TRUE(ignoring.ignore_memory);
  EXPECT_NE(scenario::print_scenario(ignoring).find("<workers memory=\"ignore\">"), std::string::npos);
}

}  // namespace
}  // namespace dadsim::test
