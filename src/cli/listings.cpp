#include "cli/listings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "algorithms/registry.hpp"
#include "collectives/collective.hpp"
#include "compress/registry.hpp"
#include "estimate/prices.hpp"
#include "methods/method_page.hpp"
#include "protocols/registry.hpp"
#include "scenario/language/rule.hpp"
#include "scenario/language/schema.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "spec/framework_specification.hpp"
#include "spec/preset.hpp"
#include "spec/workload.hpp"
#include "study/setting/catalog.hpp"
#include "support/human.hpp"

namespace dadsim::cli {
namespace {

constexpr std::size_t kWidth = 110;

std::string paragraph(std::string_view text, std::size_t indent) {
  return std::string(indent, ' ') + wrapped(text, kWidth, indent);
}

std::string list_parameters(const std::vector<spec::ParameterSpec>& parameters) {
  std::string text;
  for (const spec::ParameterSpec& parameter : parameters) {
    text += paragraph(fmt::format("{}=\"{}\"  {}: {}", parameter.name, parameter.default_value, range_of(parameter),
                                  parameter.description),
                      4);
  }
  return text;
}

std::string list_algorithms() {
  std::string text =
      "Payload: floats that one site sends per layer and step; N rows of its batch, p inputs, q outputs, r "
      "rank.\n";
  for (const methods::MethodInfo& info : algorithms::algorithm_registry().all()) {
    text += fmt::format("\n{}\n", info.name);
    const methods::MethodPage& page = methods::method_page(info.name);
    text += paragraph(page.description, 2);
    text += paragraph(fmt::format("payload: {}{}", page.section("What is sent"),
                                  info.exact(run_of(info)) ? "; exact: equals the pooled gradient" : ""),
                      2);
    text += paragraph("family: " + info.family, 2);
    text += paragraph("source: " + page.section("Source"), 2);
    text += list_parameters(info.parameters);
  }
  text += '\n' + paragraph(
                     "Event-driven: the order of events decides what is learned, so the cluster is simulated first and "
                     "learning follows (docs/event-driven.md). Payload: d is the number of parameters.",
                     0);
  for (const methods::MethodInfo& info : protocols::protocol_registry().all()) {
    text += fmt::format("\n{}\n", info.name);
    const methods::MethodPage& page = methods::method_page(info.name);
    text += paragraph(page.description, 2);
    text += paragraph(
        fmt::format("payload: {}{}", page.section("What is sent"),
                    info.needs_server(default_parameters(info.parameters)) ? "; needs an aggregator" : "; among peers"),
        2);
    text += paragraph("family: " + info.family, 2);
    text += paragraph("on a failure: " + page.section("On a failure"), 2);
    text += paragraph("source: " + page.section("Source"), 2);
    text += list_parameters(info.parameters);
  }
  return text;
}

std::string list_compressors() {
  std::string text = "Bytes of n numbers of one matrix, as <compress method=\"…\"/> in a <run>.\n";
  for (const compress::CompressorInfo& info : compress::compressors().all()) {
    const char* sums = info.adds.depends()                              ? "; sums depend on its parameters"
                       : info.adds(default_parameters(info.parameters)) ? ""
                                                                        : "; peers sum by an all-gather";
    text += fmt::format("\n{}\n", info.name);
    const methods::MethodPage& page = methods::method_page("compress-" + info.name);
    text += paragraph(page.description, 2);
    text += paragraph(
        fmt::format("bytes: {}{}{}", page.section("What is sent"), info.lossless ? "; loses nothing" : "", sums), 2);
    text += paragraph("source: " + page.section("Source"), 2);
    text += list_parameters(info.parameters);
  }
  return text;
}

/// Returns for example "fp32 15.7, fp16 125 Tflop/s".
std::string peaks_of(const spec::DeviceSpec& device) {
  std::string text;
  for (const spec::Precision precision : spec::kPrecisions) {
    const bool other_scales = spec::is_fp8(precision) && precision != spec::Precision::fp8;
    if (!(device.peak(precision) > 0) || other_scales) continue;
    text += fmt::format("{}{} {:.4g}", text.empty() ? "" : ", ", to_string(precision), device.peak(precision) / 1e12);
  }
  return text + " Tflop/s";
}

std::string list_devices() {
  std::string text = paragraph(
      "A computation takes launches × overhead + max(flops ÷ (peak × efficiency), bytes ÷ (bandwidth × efficiency)); "
      "docs/devices.md explains how the efficiency of a matrix product falls with its size. Peaks are of dense "
      "products; "
      "GB of memory are 2^30 bytes.",
      0);
  constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
  for (const spec::DeviceSpec& device : sim::device_catalog().all()) {
    text += fmt::format("\n{}\n", device.name);
    text += paragraph(device.description, 2);
    text += paragraph(
        fmt::format("{}; {} at {:.4g} GB/s; {}", peaks_of(device),
                    device.memory_bytes > 0 ? fmt::format("{:.4g} GB", device.memory_bytes / kGib) : "memory unknown",
                    device.memory_bandwidth / 1e9,
                    device.power > 0 ? fmt::format("{:.4g} W", device.power) : "power unknown"),
        2);
    text += paragraph(
        fmt::format("efficiency of products {:.3g}, of memory {:.3g}; {:.3g} µs per kernel, ramp {:.3g} µs, tiles of "
                    "{:.0f} rows",
                    device.matrix_efficiency, device.memory_efficiency, device.launch_overhead * 1e6,
                    device.ramp_seconds * 1e6, device.tile_rows),
        2);
    for (const spec::KindEfficiency& one : device.efficiencies) {
      text += paragraph(
          fmt::format("{}{} {:.3f}: {}", to_string(one.kind),
                      one.precision ? fmt::format(" in {}", to_string(*one.precision)) : "", one.share, one.source),
          2);
    }
    text += paragraph("source: " + device.source, 2);
  }
  return text;
}

std::string list_workloads() {
  std::string text = "Workloads that a scenario can be timed as (<timed-as workload=\"…\"/>).\n";
  for (const spec::Workload& workload : spec::workload_registry().all()) {
    const spec::ModelShape shape = workload.shape();
    text += fmt::format("\n{}\n", workload.name);
    text += paragraph(workload.description, 2);
    text += paragraph(
        fmt::format("a sample is {}{}", workload.sample,
                    workload.dataset_size > 0 ? fmt::format(", {} per epoch", human_count(workload.dataset_size)) : ""),
        2);
    text += paragraph(
        fmt::format("{} parameters, {:.4g} G multiply-adds forward per sample, {} layers",
                    human_count(shape.parameters()), shape.forward_macs_per_sample() / 1e9, shape.layers.size()),
        2);
    text += paragraph("source: " + workload.source, 2);
    text += list_parameters(workload.parameters);
  }
  return text;
}

std::string list_models() {
  std::string text =
      "Networks that can learn (<model preset=\"…\"/>) with their parameters, and the layers for networks of your "
      "own.\n";
  for (const spec::Preset& preset : spec::preset_registry().all()) {
    text += fmt::format("\n{}\n", preset.name);
    text += paragraph(preset.description, 2);
    text += paragraph("source: " + preset.source, 2);
    text += list_parameters(preset.parameters);
  }
  text += "\nlayers\n";
  for (const std::string& layer : scenario::find_rule("model")->children) {
    const scenario::ElementRule& rule = *scenario::find_rule(layer);
    text +=
        fmt::format("  <{}{}{}>{}\n", layer, rule.attributes.empty() ? "" : " ", fmt::join(rule.attribute_names(), " "),
                    rule.children.empty() ? "" : " with layers inside, and <shortcut> with others");
  }
  return text;
}

std::string list_links() {
  std::string text =
      "Bandwidth: one direction, of the wire. Latency: one way. Efficiency: share of the bandwidth that payload "
      "reaches.\n";
  for (const spec::LinkSpec& link : sim::link_catalog()) {
    text += fmt::format("\n{}\n", link.name);
    text += paragraph(
        fmt::format("{}, {}, transport {}, efficiency {:.4g}{}{}", sim::rate_in_words(link.bandwidth),
                    sim::seconds_in_words(link.latency), to_string(link.transport), link.efficiency,
                    link.transport == spec::Transport::tcp ? fmt::format(", queue {}", human_bytes(link.queue_bytes))
                                                           : std::string(),
                    link.is_access ? ", access line" : ""),
        2);
    text += paragraph("source: " + link.source, 2);
  }
  return text;
}

/// Returns for example "packs 80 MB/s", or "packs in no time".
std::string megabytes_a_second(const char* what, double rate) {
  return rate > 0 ? fmt::format("{} {:.4g} MB/s", what, rate / 1e6) : fmt::format("{} in no time", what);
}

std::string list_frameworks() {
  std::string text = paragraph(
      "Software overhead of messages (<framework name=\"…\" version=\"…\"/>; docs/frameworks.md). Rates hold for "
      "one message at an otherwise idle node; the newest version of a name is listed last.",
      0);
  for (const spec::FrameworkFacts& facts : spec::framework_facts()) {
    const spec::FrameworkSpec& one = facts.spec;
    text += fmt::format("\n{} {}\n", one.name, one.version);
    if (!facts.tables.empty()) {
      text += paragraph(fmt::format("training takes {:.2f} times as long as the rates of the device give; this factor "
                                    "varies by {:.0f} % between tables (one standard deviation)",
                                    one.computing, 100 * facts.computing_spread),
                        2);
      text += paragraph(fmt::format("source, {}: {}; tables {}", facts.date, facts.source, facts.tables), 2);
      continue;
    }
    text += paragraph(fmt::format("client: {}, {}{}", megabytes_a_second("packs", one.serialise),
                                  megabytes_a_second("unpacks", one.deserialise),
                                  one.copy > 0 ? ", " + megabytes_a_second("copies a payload at", one.copy) : ""),
                      2);
    text += paragraph(fmt::format("server: {}, {}, {} {}; {}", megabytes_a_second("packs", one.server_serialise),
                                  megabytes_a_second("unpacks", one.server_deserialise), one.server_cores,
                                  one.server_cores == 1 ? "message at a time" : "messages at a time",
                                  megabytes_a_second("sums", one.aggregate)),
                      2);
    std::vector<std::string> more;
    if (one.streams) more.emplace_back("packs, sends and unpacks concurrently");
    if (one.round > 0) more.push_back(fmt::format("a round takes {:.4g} s more", one.round));
    if (one.per_client > 0) more.push_back(fmt::format("each participant {:.4g} s more", one.per_client));
    if (one.polling > 0) more.push_back(fmt::format("clients ask every {:.4g} s", one.polling));
    more.push_back(one.longest_message > 0 ? "a model above " + human_bytes(one.longest_message) + " is refused"
                                           : "a model may have any length, and is sent in pieces");
    if (one.server_models > 0)
      more.push_back(fmt::format("the server holds {} models in addition to one per client", one.server_models));
    if (one.evaluates) more.emplace_back("clients receive each new model once more, to evaluate it");
    more.push_back(fmt::format("sends {}", to_string(one.sends)));
    if (!one.all_reduce.empty()) more.push_back(fmt::format("peers sum by {}", one.all_reduce));
    text += paragraph(fmt::format("{}", fmt::join(more, "; ")), 2);
    text += paragraph(fmt::format("source, {}: {}", facts.date, facts.source), 2);
  }
  return text;
}

std::string list_regions() {
  std::string text = paragraph(
      "From each region to all other regions: throughput of 64 parallel TCP connections in Gbit/s (measured by the "
      "Skyplane "
      "project in January 2022) and round trip in ms (April 2022).",
      0);
  for (const std::string& from : sim::region_names()) {
    text += fmt::format("\n{}\n", from);
    constexpr std::size_t kPerLine = 3;
    std::size_t reported = 0;
    for (const std::string& to : sim::region_names()) {
      const std::optional<spec::WanSpec::Pair> pair = sim::region_pair(from, to);
      if (!pair) continue;
      text += fmt::format("  {:<24} {:>5.2f} {:>5.1f}", to, pair->bandwidth * 8 / 1e9, pair->round_trip * 1e3);
      if (++reported % kPerLine == 0) text += '\n';
    }
    if (reported % kPerLine != 0) text += '\n';
  }
  return text;
}

std::string list_collectives() {
  std::string text = "Algorithms of collectives. auto is the choice of the devices' library, best the fastest.\n";
  step::CollectiveKind last{};
  bool first = true;
  for (const collectives::CollectiveAlgorithm& algorithm : collectives::collective_registry()) {
    if (first || algorithm.kind != last) text += fmt::format("\n{}\n", to_string(algorithm.kind));
    first = false;
    last = algorithm.kind;
    text += paragraph(fmt::format("{}: {} ({})", algorithm.name, algorithm.description, algorithm.source), 2);
  }
  return text;
}

std::string list_prices() {
  constexpr std::size_t kSource = 25;  // indent of continued lines, columns
  std::string text = paragraph(
      "Dated example prices, not today's: <costs> uses the latest on-demand prices of devices, unless a scenario has "
      "its own prices or sets provider, term or price-date.",
      0);
  text += "\nOne device for an hour, USD\n";
  for (const estimate::DevicePrice& price : estimate::device_prices()) {
    text += wrapped(fmt::format("  {:<14} {:>6.2f}  {}, {}, {}: {}", price.device, price.per_hour, price.provider,
                                to_string(price.term), price.date, price.source),
                    kWidth, kSource);
  }
  text += "\nEgress of 10^9 bytes, USD\n";
  for (const estimate::EgressPrice& price : estimate::egress_prices()) {
    text +=
        wrapped(fmt::format("  {:.3f}  {} to {}, {}: {}", price.per_gb, price.from, price.to, price.date, price.source),
                kWidth, 9);
  }
  text += "\nGrams of CO2 equivalent per kWh of the grid (carbon-region of <costs>)\n";
  for (const estimate::GridCarbon& one : estimate::grid_carbon()) {
    text += wrapped(fmt::format("  {:<28} {:>6.1f}  {}, {}", one.region, one.grams, one.place, one.date), kWidth, 38);
  }
  if (!estimate::grid_carbon().empty()) text += paragraph(estimate::grid_carbon().front().source, 2);
  return text;
}

void append_names(std::vector<std::string>& names, const auto& entries) {
  for (const auto& entry : entries) names.push_back(entry.name);
}

}  // namespace

std::string range_of(const spec::ParameterSpec& parameter) {
  switch (parameter.type) {
    case spec::ParameterSpec::Type::integer:
      return fmt::format("{:.0f} … {:.0f}", parameter.minimum, parameter.maximum);
    case spec::ParameterSpec::Type::real:
      return fmt::format("{} … {}", parameter.minimum, parameter.maximum);
    case spec::ParameterSpec::Type::choice:
      return parameter.choices.empty() ? "text" : fmt::format("{}", fmt::join(parameter.choices, " | "));
    case spec::ParameterSpec::Type::file:
      return "path of a file";
  }
  return {};
}

const std::vector<Listing>& listings() {
  static const std::vector<Listing> all{
      {"algorithms", "list the algorithms with their parameters", list_algorithms},
      {"compressors", "list the compressors of matrices", list_compressors},
      {"models", "list the networks that can learn, and their layers", list_models},
      {"devices", "list the devices with their sources", list_devices},
      {"workloads", "list the workloads of <timed-as>", list_workloads},
      {"links", "list the links of the catalogue with their sources", list_links},
      {"frameworks", "list the overhead of software frameworks, with dates and sources", list_frameworks},
      {"regions", "list the cloud regions and the measurements between them", list_regions},
      {"prices", "list prices of devices and of outgoing bytes, with dates and sources", list_prices},
      {"collectives", "list the algorithms of each collective", list_collectives},
  };
  return all;
}

const Listing* find_listing(const std::string& name) {
  const auto found = std::ranges::find(listings(), name, &Listing::name);
  return found == listings().end() ? nullptr : &*found;
}

std::string entries_with(const std::string& listing, const std::vector<std::string>& words) {
  if (words.empty()) return listing;
  const auto lower = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  std::string found;
  std::size_t at = listing.find("\n\n");
  while (at != std::string::npos) {
    const std::size_t next = listing.find("\n\n", at + 2);
    std::string entry = listing.substr(at + 2, next == std::string::npos ? next : next - at - 2);
    const std::string searched = lower(entry);
    if (std::ranges::all_of(words,
                            [&](const std::string& word) { return searched.find(lower(word)) != std::string::npos; })) {
      found += "\n" + entry + (entry.ends_with('\n') ? "" : "\n");
    }
    at = next;
  }
  if (found.empty()) return fmt::format("no entry contains {}\n", fmt::join(words, " and "));
  return listing.substr(0, listing.find("\n\n") + 1) + found;
}

std::vector<std::string> names_of(std::string_view kind) {
  std::vector<std::string> names;
  if (kind == "algorithms") {
    append_names(names, algorithms::algorithm_registry().all());
    append_names(names, protocols::protocol_registry().all());
  } else if (kind == "compressors") {
    append_names(names, compress::compressors().all());
  } else if (kind == "devices") {
    append_names(names, sim::device_catalog().all());
  } else if (kind == "links") {
    append_names(names, sim::link_catalog());
  } else if (kind == "frameworks") {
    for (const spec::FrameworkFacts& facts : spec::framework_facts()) {
      if (names.empty() || names.back() != facts.spec.name) names.push_back(facts.spec.name);
    }
  } else if (kind == "models") {
    append_names(names, spec::preset_registry().all());
  } else if (kind == "workloads") {
    append_names(names, spec::workload_registry().all());
  } else if (kind == "regions") {
    names = sim::region_names();
  } else if (kind == "all-reduces") {
    names = study::make_catalog().all_reduces;
  } else if (kind == "all-gathers") {
    names = study::make_catalog().all_gathers;
  } else if (kind == "reduce-scatters") {
    names = study::make_catalog().reduce_scatters;
  } else if (kind == "collectives") {
    for (const collectives::CollectiveAlgorithm& one : collectives::collective_registry()) {
      if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
    }
  }
  return names;
}

std::string schema_with_names() { return scenario::schema_with(names_of); }

}  // namespace dadsim::cli
