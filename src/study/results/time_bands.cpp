#include "study/results/time_bands.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "spec/workload.hpp"
#include "study/results/network_category.hpp"

namespace dadsim::study {
namespace {

/// Words and numbers of a text in small letters: "ViT-B/16" is vit, b, 16.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> tokens;
  bool open = false;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) == 0) {
      open = false;
      continue;
    }
    if (!open) tokens.emplace_back();
    open = true;
    tokens.back() += static_cast<char>(std::tolower(letter));
  }
  return tokens;
}

bool names_any_workload(std::string_view text) {
  return std::ranges::any_of(spec::workload_registry().all(),
                             [&](const spec::Workload& one) { return names_workload(text, one.name); });
}

/// The kind of layer with most of the multiplications, of those that have an efficiency of their own.
spec::LayerKind main_kind(const spec::ModelShape& shape) {
  std::map<spec::LayerKind, double> work{{spec::LayerKind::dense, 0}};
  for (const spec::LayerShape& layer : shape.layers) {
    if (layer.kind == spec::LayerKind::dense || layer.kind == spec::LayerKind::convolution ||
        layer.kind == spec::LayerKind::attention)
      work[layer.kind] += layer.forward_macs_per_sample;
  }
  return std::ranges::max_element(work, {}, [](const auto& one) { return one.second; })->first;
}

/// What the device has for these products; null: what its class has.
const spec::KindEfficiency* efficiency_of(const spec::DeviceSpec& device, spec::LayerKind kind,
                                          spec::Precision precision) {
  const spec::KindEfficiency* best = nullptr;
  for (const spec::KindEfficiency& one : device.efficiencies) {
    if (one.kind != kind || (one.precision && *one.precision != precision)) continue;
    if (best == nullptr || one.precision) best = &one;
  }
  return best;
}

double width(const std::string& category) {
  const auto categories = estimate::error_categories();
  const auto found = std::ranges::find(categories, category, &estimate::ErrorCategory::name);
  return found == categories.end() ? 0 : found->spread.high / found->spread.low;
}

}  // namespace

bool names_workload(std::string_view text, std::string_view workload) {
  const std::vector<std::string> all = tokens_of(text);
  const std::vector<std::string> name = tokens_of(workload);
  return !name.empty() && std::search(all.begin(), all.end(), name.begin(), name.end()) != all.end();
}

ComputeBasis compute_basis(const spec::DeviceSpec& device, const spec::ModelShape& shape, const std::string& workload,
                           spec::Precision precision) {
  if (device.step_seconds > 0) return {"compute.same-workload", report::Statement{"step-as-measured", {device.name}}};
  const spec::LayerKind kind = main_kind(shape);
  const spec::KindEfficiency* efficiency = efficiency_of(device, kind, precision);
  const auto said = [&](const char* how) {
    return report::Statement{how, {device.name}}
        .with("layers", std::string(to_string(kind)))
        .with("precision", std::string(to_string(precision)));
  };
  if (efficiency == nullptr || !names_any_workload(efficiency->source))
    return {"compute.assumed", said("rate-assumed")};
  const bool same = names_workload(efficiency->source, workload) || names_workload(workload, efficiency->source);
  return {same ? "compute.same-workload" : "compute.same-kind",
          said("rate-calibrated").with("source", efficiency->source)};
}

std::string network_category(const scenario::Scenario& scenario, const report::RunResult& run) {
  // What is not computing is then what lines and software take together, as it was in the rows of that category.
  if (!scenario.framework.none() && run.spec.communicates) return "network.framework";
  CarriedMessages carried{.gloo = scenario.network.rendezvous};
  for (const step::NetworkUse::Collective& one : run.network.collectives) {
    carried.most_bytes = std::max(carried.most_bytes, one.most_bytes);
    carried.at_once_bytes = std::max(carried.at_once_bytes, bytes_at_once(one, static_cast<double>(run.workers)));
    carried.gloo = carried.gloo || one.algorithm.starts_with("gloo");
  }
  return category_of_messages(run.network, carried);
}

void add_band(const scenario::Scenario& scenario, const TimedAs& timed, const sim::Cluster& cluster,
              report::RunResult& run) {
  if (!std::isfinite(run.step_seconds) || !(run.step_seconds > 0)) return;
  const std::string workload =
      scenario.timed_as && !scenario.timed_as->workload.empty() ? scenario.timed_as->workload : timed.shape.name;
  // Of several devices the one of which the least is known counts.
  ComputeBasis compute;
  std::set<std::string> names;
  for (const spec::DeviceSpec& device : cluster.devices) {
    if (!names.insert(device.name).second) continue;
    ComputeBasis one = timed.recorded ? ComputeBasis{"compute.same-workload", {"step-as-recorded", {device.name}}}
                                      : compute_basis(device, timed.shape, workload, timed.precision);
    if (compute.category.empty() || width(one.category) > width(compute.category)) compute = std::move(one);
  }
  const bool alone = run.network.links_used == 0 || run.workers < 2;
  if (!alone && compute.category == "compute.same-workload" && cluster.devices.front().step_seconds == 0 &&
      !timed.recorded)
    compute.category = "compute.several-devices";

  report::StepBand band;
  // An event-driven run does not say what of its computing is compression.
  const double added =
      std::isfinite(run.compression_seconds) ? std::clamp(run.compression_seconds, 0.0, run.compute_seconds) : 0;
  const double exposed = std::max(0.0, run.step_seconds - run.compute_seconds);
  const auto add = [&](const std::string& category, double seconds, std::string cause,
                       std::optional<report::Statement> basis) {
    // A difference of sums is no part of a step.
    if (seconds > 1e-9 * run.step_seconds)
      band.parts.push_back({category, seconds, std::move(cause), std::move(basis)});
  };
  add(compute.category, run.compute_seconds - added, fmt::format("computing on {}", fmt::join(names, ", ")),
      compute.basis);
  // Thin products and passes over memory: nobody has measured them here.
  add("compute.assumed", added, "compression by " + run.spec.algorithm, report::Statement{"compression-assumed"});
  std::string carried = "messages";
  for (const step::NetworkUse::Collective& one : run.network.collectives)
    carried += fmt::format("; {} as {}", one.kind, one.algorithm);
  add(network_category(scenario, run), exposed, carried, {});
  const estimate::Band factors = estimate::band_of(band.parts);
  band.low = run.step_seconds * factors.low;
  band.high = run.step_seconds * factors.high;
  run.step_band = std::move(band);
}

}  // namespace dadsim::study
