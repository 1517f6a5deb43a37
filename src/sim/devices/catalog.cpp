#include <algorithm>
#include <utility>

#include "sim/device.hpp"
#include "sim/devices/classes.csv.hpp"
#include "sim/devices/devices.csv.hpp"
#include "sim/devices/efficiencies.csv.hpp"
#include "sim/kernels.hpp"
#include "spec/fact_cells.hpp"

namespace dadsim::sim {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;
constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

/// Reads the device's own efficiencies; its peaks must be known.
void read_efficiencies(spec::DeviceSpec& device, const FactTable& table) {
  for (const FactTable::Row& row : table.rows()) {
    if (row.text("device") != device.name) continue;
    spec::KindEfficiency one;
    one.kind = row.one_of<spec::LayerKind>("kind", {{"dense", spec::LayerKind::dense},
                                                    {"convolution", spec::LayerKind::convolution},
                                                    {"attention", spec::LayerKind::attention}});
    one.precision = spec::named_in<spec::Precision>(row, "precision");
    one.source = row.text("source");
    if (row.optional_text("share").empty()) {
      one.share = kTrainingOfBestProduct * row.number("best product [Tflop/s]") * kTera / device.peak(*one.precision);
      one.source = "0.7 (assumed) of the rate of the fastest product of any shape, " + one.source;
    } else {
      one.share = row.number("share");
      if (!row.optional_text("best product [Tflop/s]").empty())
        row.wrong("a share and a best product cannot be combined", "remove one of them");
    }
    device.efficiencies.push_back(std::move(one));
  }
}

/// Reads the constants assumed for the device's class.
void read_class(spec::DeviceSpec& device, const FactTable::Row& assumed) {
  device.matrix_efficiency = assumed.number("matrix efficiency");
  device.memory_efficiency = assumed.number("memory efficiency");
  device.launch_overhead = assumed.number("launch [s]");
  device.ramp_seconds = assumed.number("ramp [s]");
  device.tile_rows = assumed.number("tile rows");
  device.winograd_share = assumed.number("winograd");
  const double dense = assumed.number("dense fp32");
  const auto known = [](const spec::KindEfficiency& one) {
    return one.kind == spec::LayerKind::dense && one.precision == spec::Precision::fp32;
  };
  if (device.peak_flops > 0 && dense != device.matrix_efficiency && std::ranges::none_of(device.efficiencies, known)) {
    device.efficiencies.push_back({spec::LayerKind::dense, spec::Precision::fp32, dense, "assumed to be as on a V100"});
  }
  device.source += "; other efficiencies and the cost of a kernel are assumptions of its class";
}

spec::DeviceSpec read_device(const FactTable::Row& row) {
  spec::DeviceSpec device;
  device.name = row.text("name");
  device.description = row.text("description");
  device.peak_flops = row.number_or("fp32 [Tflop/s]", 0) * kTera;
  device.tf32_flops = row.number_or("tf32 [Tflop/s]", 0) * kTera;
  device.fp16_flops = row.number_or("fp16 [Tflop/s]", 0) * kTera;
  device.bf16_flops = row.number_or("bf16 [Tflop/s]", 0) * kTera;
  device.fp8_flops = row.number_or("fp8 [Tflop/s]", 0) * kTera;
  device.fp4_flops = row.number_or("fp4 [Tflop/s]", 0) * kTera;
  device.memory_bandwidth = row.number("bandwidth [GB/s]") * kGiga;
  device.memory_bytes = row.number_or("memory [GiB]", 0) * kGib;
  device.power = row.number_or("power [W]", 0);
  device.source = row.text("source");
  if (!row.optional_text("library").empty()) device.library = spec::named_in<spec::CollectiveLibrary>(row, "library");
  if (device.library == spec::CollectiveLibrary::nccl)
    device.generation = spec::named_in<spec::GpuGeneration>(row, "generation");
  if (const DeviceKernels kernels = kernels_of(device.name); kernels.steps) device.kernels = kernels.family;
  return device;
}

}  // namespace

Registry<spec::DeviceSpec>& device_catalog() {
  static Registry<spec::DeviceSpec> catalog = [] {
    const FactTable devices(
        tables::kDevices, {"name", "description", "class", "library", "generation", "fp32 [Tflop/s]", "tf32 [Tflop/s]",
                           "fp16 [Tflop/s]", "bf16 [Tflop/s]", "fp8 [Tflop/s]", "fp4 [Tflop/s]", "bandwidth [GB/s]",
                           "memory [GiB]", "power [W]", "date", "source"});
    const FactTable classes(tables::kClasses, {"name", "matrix efficiency", "dense fp32", "memory efficiency",
                                               "launch [s]", "ramp [s]", "tile rows", "winograd", "date", "source"});
    const FactTable efficiencies(
        tables::kEfficiencies, {"device", "kind", "precision", "share", "best product [Tflop/s]", "date", "source"}, 3);
    auto all = devices.each([&](const FactTable::Row& row) {
      spec::DeviceSpec device = read_device(row);
      read_efficiencies(device, efficiencies);
      read_class(device, row.row_of("class", classes));
      return device;
    });
    for (const FactTable::Row& row : efficiencies.rows()) static_cast<void>(row.row_of("device", devices));
    return Registry<spec::DeviceSpec>("device", std::move(all));
  }();
  return catalog;
}

}  // namespace dadsim::sim
