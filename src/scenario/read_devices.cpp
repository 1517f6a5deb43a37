#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "scenario/quantity.hpp"
#include "scenario/read.hpp"

namespace dadsim::scenario {
namespace {

constexpr Range kPositiveQuantity{.minimum = 0, .open_minimum = true};
constexpr QuantityForm kPeak{Catalog::Unit::flops, kPositiveQuantity, "flop/s above 0 with their unit, e.g. 10TF"};
constexpr QuantityForm kBandwidth{Catalog::Unit::bytes_per_second, kPositiveQuantity,
                                  "bytes per second above 0 with their unit, e.g. 300GBps"};
constexpr QuantityForm kMemory{Catalog::Unit::bytes, kPositiveQuantity, "bytes above 0 with their unit, e.g. 16GiB"};
constexpr QuantityForm kOverhead{
    Catalog::Unit::seconds, {.minimum = 0}, "seconds with their unit, not below 0, e.g. 10us"};
constexpr QuantityForm kStep{Catalog::Unit::seconds, kPositiveQuantity, "seconds above 0 with their unit, e.g. 30ms"};

/// Nullopt with a finding where it does not say what it is of.
std::optional<spec::KindEfficiency> read_efficiency(const Element& element, const ReadContext& context) {
  static const std::array<std::string, 3> kKinds = {"dense", "convolution", "attention"};
  constexpr std::array kOf{spec::LayerKind::dense, spec::LayerKind::convolution, spec::LayerKind::attention};
  const Node node(element, context.findings);
  spec::KindEfficiency efficiency;
  const std::optional<std::string> of = node.required_text("of", "dense, convolution or attention");
  if (of) efficiency.kind = kOf.at(node.choice("of", kKinds, 0));
  if (node.has("precision")) {
    std::vector<std::string> names;
    for (const spec::Precision precision : spec::kPrecisions) names.emplace_back(to_string(precision));
    efficiency.precision = spec::kPrecisions.at(node.choice("precision", names, 0));
  }
  const std::optional<double> share = node.real("share", kPositiveShare);
  if (!of || std::ranges::find(kKinds, *of) == kKinds.end() || !share) return std::nullopt;
  efficiency.share = *share;
  efficiency.source = node.text("source", "");
  return efficiency;
}

void read_efficiencies(const Node& node, spec::DeviceSpec& device, const ReadContext& context) {
  for (const Element* element : node.children("efficiency")) {
    std::optional<spec::KindEfficiency> one = read_efficiency(*element, context);
    if (!one) continue;
    const bool twice = std::ranges::any_of(device.efficiencies, [&](const spec::KindEfficiency& other) {
      return other.kind == one->kind && other.precision == one->precision;
    });
    if (twice) {
      context.findings.add(element->origin, "<efficiency> for the same products twice", "one of them");
    } else {
      device.efficiencies.push_back(std::move(*one));
    }
  }
}

spec::DeviceSpec read_device(const Node& node, const ReadContext& context) {
  spec::DeviceSpec device;
  device.name = node.required_text("name", "a name for <worker device=\"…\">").value_or("");
  device.description = node.text("description", "");
  device.tf32_flops = quantity(node, "tf32-flops", kPeak, 0, context.catalog);
  device.fp16_flops = quantity(node, "fp16-flops", kPeak, 0, context.catalog);
  device.bf16_flops = quantity(node, "bf16-flops", kPeak, 0, context.catalog);
  device.fp8_flops = quantity(node, "fp8-flops", kPeak, 0, context.catalog);
  if (device.fp8_flops > 0 && !node.has("bf16-flops"))
    node.fail_at("fp8-flops", "stands without bf16-flops", "both: all but dense layers is in bf16 then");
  // Without fp32 a device needs another precision.
  if (node.has("peak-flops") || device.precisions().empty())
    device.peak_flops = required_quantity(node, "peak-flops", kPeak, context.catalog).value_or(0);
  device.memory_bandwidth = required_quantity(node, "memory-bandwidth", kBandwidth, context.catalog).value_or(0);
  device.matrix_efficiency = node.real("matrix-efficiency", kPositiveShare).value_or(0);
  device.memory_efficiency = node.real("memory-efficiency", kPositiveShare).value_or(0);
  device.launch_overhead = required_quantity(node, "launch-overhead", kOverhead, context.catalog).value_or(0);
  device.step_seconds = quantity(node, "step-time", kStep, 0, context.catalog);
  device.memory_bytes = quantity(node, "memory", kMemory, 0, context.catalog);
  device.power = node.real("watts", {.minimum = 0, .maximum = 1e6, .open_minimum = true}, 0);
  device.ramp_seconds = quantity(node, "ramp-time", kOverhead, 0, context.catalog);
  device.tile_rows = static_cast<double>(node.integer("tile-rows", 1, 65536, 1));
  device.winograd_share = node.real("winograd-share", kPositiveShare, 1);
  read_efficiencies(node, device, context);
  device.source = "defined in the scenario";
  return device;
}

}  // namespace

std::vector<spec::DeviceSpec> read_devices(const Node& scenario, const ReadContext& context) {
  std::vector<spec::DeviceSpec> devices;
  std::set<std::string> names(context.catalog.devices.begin(), context.catalog.devices.end());
  const std::vector<const Element*> elements = scenario.children("device");
  if (elements.size() > kMaxDevices) {
    scenario.fail(fmt::format("{} <device>", elements.size()), fmt::format("at most {}", kMaxDevices));
  }
  for (const Element* element : elements) {
    const Node node(*element, context.findings);
    devices.push_back(read_device(node, context));
    const std::string& name = devices.back().name;
    if (name.empty() || names.insert(name).second) continue;
    const bool in_catalog = std::ranges::find(context.catalog.devices, name) != context.catalog.devices.end();
    node.fail_at("name", in_catalog ? "is a device of the catalogue" : "is taken by another <device>",
                 "a name of its own");
  }
  return devices;
}

void check_precision(const Scenario& scenario, const std::vector<spec::Placement>& workers,
                     const std::vector<Origin>& origins, const Element* timed_as, const ReadContext& context) {
  const spec::Precision precision = scenario.timed_as ? scenario.timed_as->precision : spec::Precision::fp32;
  const auto find = [&](const std::string& name) -> const spec::DeviceSpec* {
    for (const auto* devices : {&scenario.devices, &context.catalog.device_specs}) {
      const auto found = std::ranges::find(*devices, name, &spec::DeviceSpec::name);
      if (found != devices->end()) return &*found;
    }
    return nullptr;
  };
  std::set<std::string> checked;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (!checked.insert(workers[i].device).second) continue;
    const spec::DeviceSpec* device = find(workers[i].device);
    // A device without any peak has its own finding already.
    if (device == nullptr || device->peak(precision) > 0 || device->precisions().empty()) continue;
    const Attribute* asked = timed_as == nullptr ? nullptr : timed_as->find("precision");
    context.findings.add(asked == nullptr ? origins.at(i) : asked->origin,
                         fmt::format("device '{}' has no {}", printable(device->name), to_string(precision)),
                         fmt::format("<timed-as precision=\"…\"> of what it has: {}", device->precisions()));
  }
}

}  // namespace dadsim::scenario
