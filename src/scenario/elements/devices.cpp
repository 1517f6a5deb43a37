#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"

namespace dadsim::scenario {
namespace {

constexpr Range kPositiveQuantity{.minimum = 0, .open_minimum = true};
constexpr QuantityForm kPeak{Unit::flops, kPositiveQuantity, "flop/s above 0 with their unit, e.g. 10TF"};
constexpr QuantityForm kBandwidth{Unit::bytes_per_second, kPositiveQuantity,
                                  "bytes per second above 0 with their unit, e.g. 300GBps"};
constexpr QuantityForm kMemory{Unit::bytes, kPositiveQuantity, "bytes above 0 with their unit, e.g. 16GiB"};
constexpr QuantityForm kOverhead{Unit::seconds, {.minimum = 0}, "seconds with their unit, not below 0, e.g. 10us"};
constexpr QuantityForm kStep{Unit::seconds, kPositiveQuantity, "seconds above 0 with their unit, e.g. 30ms"};

Kind kinds_of_layer() {
  Kind kind = one_of({"dense", "convolution", "attention"});
  kind.form = "dense, convolution or attention";
  return kind;
}

const Table<spec::KindEfficiency>& efficiency_table() {
  using Spec = spec::KindEfficiency;
  static const Table<Spec> kTable =
      Table<Spec>("efficiency", "Efficiency of large matrix products in one kind of layer, as a share of the peak.",
                  {attribute("of", &Spec::kind, kinds_of_layer()).must(),
                   attribute("precision", &Spec::precision, one_of<spec::Precision>()),
                   attribute("share", &Spec::share, real(kPositiveShare)).must(),
                   attribute("source", &Spec::source, any_text()).if_given()})
          .repeats();
  return kTable;
}

const Table<spec::DeviceSpec>& device_table() {
  using Spec = spec::DeviceSpec;
  static const Table<Spec> kTable =
      Table<Spec>("device",
                  "A device of your own, described by its roofline, in addition to the catalogue (`dadsim devices`).",
                  {attribute("name", &Spec::name, text("a name for <worker device=\"…\">")).must(),
                   attribute("description", &Spec::description, any_text()).if_given(),
                   attribute("peak-flops", &Spec::peak_flops, quantity(kPeak)).if_given(),
                   attribute("memory-bandwidth", &Spec::memory_bandwidth, quantity(kBandwidth)).must(),
                   attribute("matrix-efficiency", &Spec::matrix_efficiency, real(kPositiveShare)).must(),
                   attribute("memory-efficiency", &Spec::memory_efficiency, real(kPositiveShare)).must(),
                   attribute("launch-overhead", &Spec::launch_overhead, quantity(kOverhead)).must(),
                   attribute("step-time", &Spec::step_seconds, quantity(kStep)).if_given(),
                   attribute("tf32-flops", &Spec::tf32_flops, quantity(kPeak)).if_given(),
                   attribute("fp16-flops", &Spec::fp16_flops, quantity(kPeak)).if_given(),
                   attribute("bf16-flops", &Spec::bf16_flops, quantity(kPeak)).if_given(),
                   attribute("fp8-flops", &Spec::fp8_flops, quantity(kPeak)).if_given(),
                   attribute("fp4-flops", &Spec::fp4_flops, quantity(kPeak)).if_given(),
                   attribute("memory", &Spec::memory_bytes, quantity(kMemory)).if_given(),
                   attribute("watts", &Spec::power, real(kPositive)).if_given(),
                   attribute("ramp-time", &Spec::ramp_seconds, quantity(kOverhead)),
                   attribute("tile-rows", &Spec::tile_rows, integer(1, 65'536)),
                   attribute("winograd-share", &Spec::winograd_share, real(kPositiveShare)),
                   attribute("kernels", &Spec::kernels, one_of(spec::kernel_families()))})
          .holds({"efficiency"})
          .repeats();
  return kTable;
}

void read_efficiencies(const Node& node, spec::DeviceSpec& device, const ReadContext& context) {
  for (const Element* element : node.children("efficiency")) {
    const std::size_t before = context.findings.added();
    spec::KindEfficiency one = efficiency_table().read(*element, context);
    if (context.findings.added() > before) continue;
    const bool twice = std::ranges::any_of(device.efficiencies, [&](const spec::KindEfficiency& other) {
      return other.kind == one.kind && other.precision == one.precision;
    });
    if (twice) {
      context.findings.add(element->origin, "<efficiency> is given twice for the same products", "remove one of them");
    } else {
      device.efficiencies.push_back(std::move(one));
    }
  }
}

spec::DeviceSpec read_device(const Node& node, const ReadContext& context) {
  spec::DeviceSpec device;
  constexpr std::array kPeaks{"peak-flops", "tf32-flops", "fp16-flops", "bf16-flops", "fp8-flops", "fp4-flops"};
  const bool any_peak = std::ranges::any_of(kPeaks, [&](const char* peak) { return node.has(peak); });
  if (!any_peak) required_quantity(node, "peak-flops", kPeak);
  device_table().read(node, context, device);
  if (device.fp8_flops > 0 && !node.has("bf16-flops"))
    node.fail_at("fp8-flops", "needs bf16-flops", "add bf16-flops, which all but dense layers use");
  if (device.fp4_flops > 0 && !node.has("fp8-flops"))
    node.fail_at("fp4-flops", "needs fp8-flops", "add fp8-flops: 4-bit devices also multiply in 8 bit");
  // Without fp32 a device needs another precision.
  if (any_peak && !node.has("peak-flops") && device.precisions().empty()) required_quantity(node, "peak-flops", kPeak);
  read_efficiencies(node, device, context);
  device.source = "defined in the scenario";
  return device;
}

}  // namespace

std::vector<std::string> device_names(const std::vector<spec::DeviceSpec>& own_devices, const ReadContext& context) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(own_devices.size(), kMaxDevices); ++i) names.push_back(own_devices[i].name);
  names.insert(names.end(), context.catalog.devices.begin(), context.catalog.devices.end());
  return names;
}

std::vector<spec::DeviceSpec> read_devices(const Node& scenario, const ReadContext& context) {
  std::vector<spec::DeviceSpec> devices;
  std::set<std::string> names(context.catalog.devices.begin(), context.catalog.devices.end());
  if (scenario.children("device").size() > kMaxDevices) scenario.children("device", kMaxDevices);
  for (const Element* element : scenario.children("device")) {
    const Node node(*element, context.findings);
    devices.push_back(read_device(node, context));
    const std::string& name = devices.back().name;
    if (name.empty() || names.insert(name).second) continue;
    const bool in_catalog = std::ranges::find(context.catalog.devices, name) != context.catalog.devices.end();
    node.fail_at("name", in_catalog ? "is the name of a device of the catalogue" : "is the name of another <device>",
                 "use another name");
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
    // A device without any peak rate has been reported already.
    if (device == nullptr || device->peak(precision) > 0 || device->precisions().empty()) continue;
    const Attribute* asked = timed_as == nullptr ? nullptr : timed_as->find("precision");
    context.findings.add(
        asked == nullptr ? origins.at(i) : asked->origin,
        fmt::format("device '{}' has no {}", printable(device->name), to_string(precision)),
        fmt::format("set <timed-as precision=\"…\"> to a precision of the device: {}", device->precisions()));
  }
}

void write_devices(XmlWriter& xml, const std::vector<spec::DeviceSpec>& devices) {
  for (const spec::DeviceSpec& device : devices) {
    XmlWriter::Open element(xml, "device");
    device_table().print_attributes(element, device, {});
    for (const spec::KindEfficiency& one : device.efficiencies) efficiency_table().print(xml, one, {});
  }
}

std::string print_device(const spec::DeviceSpec& device) {
  XmlWriter xml;
  write_devices(xml, {device});
  const std::string text = xml.finish();
  return text.substr(text.find('\n') + 1);  // removes the XML declaration
}

std::vector<ElementRule> devices_rules() { return {device_table().rule(), efficiency_table().rule()}; }

}  // namespace dadsim::scenario
