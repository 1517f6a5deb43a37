#include "cli/listings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "algorithms/registry.hpp"
#include "plan/workload.hpp"
#include "report/human.hpp"
#include "sim/device.hpp"

namespace dadsim {
namespace {

constexpr std::size_t kWidth = 110;

std::string paragraph(std::string_view text, std::size_t indent) {
  return std::string(indent, ' ') + wrapped(text, kWidth, indent);
}

std::string range_of(const ParameterSpec& parameter) {
  switch (parameter.type) {
    case ParameterSpec::Type::integer:
      return fmt::format("{:.0f} … {:.0f}", parameter.minimum, parameter.maximum);
    case ParameterSpec::Type::real:
      return fmt::format("{} … {}", parameter.minimum, parameter.maximum);
    case ParameterSpec::Type::choice:
      return fmt::format("{}", fmt::join(parameter.choices, " | "));
  }
  return {};
}

}  // namespace

std::string list_algorithms() {
  std::string text =
      "Payload: floats that one site hands over per layer and step; N rows of its batch, p inputs, q outputs, r "
      "rank.\n";
  for (const AlgorithmInfo& info : algorithm_registry()) {
    text += fmt::format("\n{}\n", info.name);
    text += paragraph(info.description, 2);
    text += paragraph(
        fmt::format("payload: {}{}", info.payload, info.exact ? "; exact: equals the pooled gradient" : ""), 2);
    text += paragraph("source: " + info.source, 2);
    for (const ParameterSpec& parameter : info.parameters) {
      text += paragraph(fmt::format("{}=\"{}\"  {}: {}", parameter.name, parameter.default_value, range_of(parameter),
                                    parameter.description),
                        4);
    }
  }
  return text;
}

std::string list_devices() {
  std::string text =
      "A computation takes launches × overhead + max(flops ÷ (peak × efficiency), bytes ÷ (bandwidth × efficiency)).\n";
  for (const DeviceSpec& device : device_catalog()) {
    text += fmt::format("\n{}\n", device.name);
    text += paragraph(device.description, 2);
    text += paragraph(fmt::format("peak {:.4g} Tflop/s × {:.3g}, memory {:.4g} GB/s × {:.3g}, {:.3g} µs per kernel",
                                  device.peak_flops / 1e12, device.matrix_efficiency, device.memory_bandwidth / 1e9,
                                  device.memory_efficiency, device.launch_overhead * 1e6),
                      2);
    text += paragraph("source: " + device.source, 2);
  }
  return text;
}

std::string list_workloads() {
  std::string text = "What a scenario can be timed as (<timed-as workload=\"…\"/>).\n";
  for (const Workload& workload : workload_registry()) {
    const ModelShape shape = workload.shape();
    text += fmt::format("\n{}\n", workload.name);
    text += paragraph(workload.description, 2);
    text += paragraph(
        fmt::format("{} parameters, {:.4g} G multiply-adds forward per sample, {} layers",
                    human_count(shape.parameters()), shape.forward_macs_per_sample() / 1e9, shape.layers.size()),
        2);
    text += paragraph("source: " + workload.source, 2);
  }
  return text;
}

}  // namespace dadsim
