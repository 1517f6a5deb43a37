#include <fmt/format.h>

#include "scenario/load.hpp"
#include "scenario/print_parts.hpp"

namespace dadsim::scenario {

using Open = XmlWriter::Open;

void write_devices(XmlWriter& xml, const std::vector<spec::DeviceSpec>& devices) {
  for (const spec::DeviceSpec& device : devices) {
    Open element(xml, "device");
    element.set("name", device.name);
    if (!device.description.empty()) element.set("description", device.description);
    // SimGrid's f stands for a factor of one.
    const auto set_flops = [&](const char* name, double flops) {
      if (flops > 0) element.set(name, fmt::format("{}f", flops));
    };
    set_flops("peak-flops", device.peak_flops);
    element.set_bandwidth("memory-bandwidth", device.memory_bandwidth)
        .set("matrix-efficiency", device.matrix_efficiency)
        .set("memory-efficiency", device.memory_efficiency)
        .set_seconds("launch-overhead", device.launch_overhead);
    if (device.step_seconds > 0) element.set_seconds("step-time", device.step_seconds);
    set_flops("tf32-flops", device.tf32_flops);
    set_flops("fp16-flops", device.fp16_flops);
    set_flops("bf16-flops", device.bf16_flops);
    set_flops("fp8-flops", device.fp8_flops);
    if (device.memory_bytes > 0) element.set_bytes("memory", device.memory_bytes);
    if (device.power > 0) element.set("watts", device.power);
    element.set_seconds("ramp-time", device.ramp_seconds)
        .set("tile-rows", device.tile_rows)
        .set("winograd-share", device.winograd_share);
    for (const spec::KindEfficiency& one : device.efficiencies) {
      Open efficiency(xml, "efficiency");
      efficiency.set("of", to_string(one.kind));
      if (one.precision) efficiency.set("precision", to_string(*one.precision));
      efficiency.set("share", one.share);
      if (!one.source.empty()) efficiency.set("source", one.source);
    }
  }
}

std::string print_device(const spec::DeviceSpec& device) {
  XmlWriter xml;
  write_devices(xml, {device});
  const std::string text = xml.finish();
  return text.substr(text.find('\n') + 1);  // the declaration belongs to a document
}

}  // namespace dadsim::scenario
