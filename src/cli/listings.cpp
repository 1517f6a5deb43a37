#include "cli/listings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "algorithms/registry.hpp"
#include "collectives/collective.hpp"
#include "plan/workload.hpp"
#include "report/human.hpp"
#include "sim/device.hpp"
#include "sim/links.hpp"
#include "sim/links/efficiency.hpp"
#include "sim/platforms/picture.hpp"
#include "sim/regions.hpp"

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

std::string list_links() {
  std::string text =
      "Bandwidth: one direction, of the wire. Latency: one way. Efficiency: share of the bandwidth that payload "
      "reaches.\n";
  for (const LinkSpec& link : link_catalog()) {
    text += fmt::format("\n{}\n", link.name);
    text += paragraph(
        fmt::format("{}, {}, transport {}, efficiency {:.4g}{}", rate_in_words(link.bandwidth),
                    seconds_in_words(link.latency), to_string(link.transport), link.efficiency,
                    link.transport == Transport::tcp ? fmt::format(", queue {}", human_bytes(link.queue_bytes))
                                                     : std::string()),
        2);
    text += paragraph("source: " + link.source, 2);
  }
  return text;
}

std::string list_regions() {
  std::string text = paragraph(
      "From each region to the others: throughput of 64 parallel TCP connections in Gbit/s (measured by the Skyplane "
      "project in January 2022) and round trip in ms (April 2022).",
      0);
  for (const std::string& from : region_names()) {
    text += fmt::format("\n{}\n", from);
    constexpr std::size_t kPerLine = 3;
    std::size_t told = 0;
    for (const std::string& to : region_names()) {
      const std::optional<WanSpec::Pair> pair = region_pair(from, to);
      if (!pair) continue;
      // The pair has the bandwidth of the wire; what was measured is payload.
      text += fmt::format("  {:<24} {:>5.2f} {:>5.1f}", to, pair->bandwidth * efficiency::tcp * 8 / 1e9,
                          pair->round_trip * 1e3);
      if (++told % kPerLine == 0) text += '\n';
    }
    if (told % kPerLine != 0) text += '\n';
  }
  return text;
}

std::string list_collectives() {
  std::string text = "How collectives can be carried out; auto takes the one that is estimated to be the soonest.\n";
  CollectiveKind last{};
  bool first = true;
  for (const CollectiveAlgorithm& algorithm : collective_registry()) {
    if (first || algorithm.kind != last) text += fmt::format("\n{}\n", to_string(algorithm.kind));
    first = false;
    last = algorithm.kind;
    text += paragraph(fmt::format("{}: {} ({})", algorithm.name, algorithm.description, algorithm.source), 2);
  }
  return text;
}

}  // namespace

const std::vector<Listing>& listings() {
  static const std::vector<Listing> all{
      {"algorithms", "list the algorithms with their parameters", list_algorithms},
      {"devices", "list the devices with their sources", list_devices},
      {"workloads", "list what a scenario can be timed as", list_workloads},
      {"links", "list the links of the catalogue with their sources", list_links},
      {"regions", "list the cloud regions and what was measured between them", list_regions},
      {"collectives", "list how each collective can be carried out", list_collectives},
  };
  return all;
}

const Listing* find_listing(const std::string& name) {
  const auto found = std::ranges::find(listings(), name, &Listing::name);
  return found == listings().end() ? nullptr : &*found;
}

}  // namespace dadsim
