#include "study/results/run_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "algorithms/registry.hpp"
#include "compress/registry.hpp"
#include "estimate/interruptions.hpp"
#include "estimate/prices.hpp"
#include "estimate/unseen.hpp"
#include "protocols/registry.hpp"
#include "report/run/divergence.hpp"
#include "report/run/over_seeds.hpp"
#include "sim/platform.hpp"
#include "spec/device_specification.hpp"
#include "spec/expert_parallel.hpp"
#include "spec/workload.hpp"
#include "study/layer_choices/layer_choices.hpp"
#include "study/results/notes.hpp"
#include "study/results/throughput.hpp"
#include "study/results/time_at_scale.hpp"
#include "study/results/transfer.hpp"
#include "study/setting/cluster_of.hpp"
#include "support/pattern.hpp"

namespace dadsim::study {
namespace {

/// Source of a device's computing times for a network.
struct ComputeBasis {
  std::string category;     ///< one of estimate::error_categories()
  report::Statement basis;  ///< "calibrated on DLPerf …"
};

/// Returns whether a text names a workload: "ResNet-50 v1.5" names resnet-50, "ViT-B/16" names vit-b-16.
bool names_workload(std::string_view text, std::string_view workload);

/// Returns whether the network has experts, of which a device may have one. Divided embedding tables do not count.
bool has_experts(const spec::ModelShape& shape) {
  return std::ranges::any_of(shape.layers, [](const spec::LayerShape& layer) {
    return layer.experts > 1 || (layer.expert_group > 1 && spec::pooled_per_sample(layer) == 0);
  });
}

/// Returns the words and numbers of a text in lower case: "ViT-B/16" gives vit, b, 16.
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

/// Returns the kind of layer with the most multiplications, among kinds for which a device can state an efficiency.
spec::LayerKind main_kind(const spec::ModelShape& shape) {
  std::map<spec::LayerKind, double> work{{spec::LayerKind::dense, 0}};
  for (const spec::LayerShape& layer : shape.layers) {
    if (layer.kind == spec::LayerKind::dense || layer.kind == spec::LayerKind::convolution ||
        layer.kind == spec::LayerKind::attention)
      work[layer.kind] += layer.forward_macs_per_sample;
  }
  return std::ranges::max_element(work, {}, [](const auto& one) { return one.second; })->first;
}

/// Returns the device's own efficiency of these products; null: that of its device class applies.
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

bool names_workload(std::string_view text, std::string_view workload) {
  const std::vector<std::string> all = tokens_of(text);
  const std::vector<std::string> name = tokens_of(workload);
  return !name.empty() && std::search(all.begin(), all.end(), name.begin(), name.end()) != all.end();
}

/// Returns the basis of a device's times. `workload`: the timed network, by its name in scenarios or in words. An
/// efficiency is calibrated if its source names a workload of the registry. The kind of layer with the most arithmetic
/// decides.
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
  if (efficiency == nullptr || !names_any_workload(efficiency->source)) {
    // Bands of kernels are those of families whose steps were measured.
    const bool seen = std::ranges::find(estimate::seen_steps(), device.kernels, &estimate::SeenSteps::device) !=
                      estimate::seen_steps().end();
    const bool kernels = device.has_kernels() && seen && kind == spec::LayerKind::dense &&
                         (precision == spec::Precision::bf16 || spec::casts_operands(precision));
    return {kernels ? "compute.kernels" : "compute.assumed", said("rate-assumed")};
  }
  const bool same = names_workload(efficiency->source, workload) || names_workload(workload, efficiency->source);
  return {same ? "compute.same-workload" : "compute.same-kind",
          said("rate-calibrated").with("source", efficiency->source)};
}

/// Returns the error category of a run's message times (estimate::error_categories()), which depends on the slowest
/// transport in use and on the messages.
std::string network_category(const spec::FrameworkSpec& framework, const spec::NetworkSpec& network,
                             const report::RunResult& run) {
  // Time outside of computing counts as communication here, including the software's time.
  if (!framework.none() && run.spec.communicates) return "network.framework";
  CarriedMessages carried{.gloo = network.rendezvous};
  for (const step::NetworkUse::Collective& one : run.network.collectives) {
    carried.most_bytes = std::max(carried.most_bytes, one.most_bytes);
    carried.at_once_bytes = std::max(carried.at_once_bytes, bytes_at_once(one, static_cast<double>(run.workers)));
    carried.gloo = carried.gloo || one.algorithm.starts_with("gloo");
  }
  return category_of_messages(run.network, carried);
}

/// Returns the properties of a step that determine its error category, in the form of the rows of
/// tests/validation/bands_test.cpp.
estimate::StepSetting setting_of(const scenario::Scenario& scenario, const spec::DeviceSpec& device) {
  const spec::TimedAsSpec& timed = *scenario.timed_as;
  const spec::ParallelismSpec& how = timed.parallelism;
  estimate::StepSetting setting{device.has_kernels() ? device.kernels : device.name,
                                std::string(to_string(timed.program)),
                                std::string(to_string(timed.precision)),
                                {},
                                static_cast<double>(scenario.all_devices().size())};
  for (const auto& [has, kind] : {std::pair{how.sharding == spec::Sharding::optimizer, "sharded-optimizer"},
                                  {how.sharding > spec::Sharding::optimizer, "sharded"},
                                  {how.tensor > 1, "tensor"},
                                  {how.pipeline > 1, "pipeline"},
                                  {how.context > 1, "context"},
                                  {how.experts > 1, "experts"}}) {
    if (has) setting.parallelism.emplace_back(kind);
  }
  return setting;
}

/// Adds the uncertainty band of a run's step.
void add_band(const scenario::Scenario& scenario, const TimedAs& timed, const sim::Cluster& cluster,
              report::RunResult& run) {
  if (!std::isfinite(run.step_seconds) || !(run.step_seconds > 0)) return;
  const std::string workload =
      scenario.timed_as && !scenario.timed_as->workload.empty() ? scenario.timed_as->workload : timed.shape.name;
  // The band uses the device with the least reliable times.
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
  const bool measured = timed.recorded || cluster.devices.front().step_seconds > 0;
  const bool experts = !measured && has_experts(timed.shape);
  if (experts)
    compute = {"compute.experts",
               report::Statement{"as-its-category"}.with("category", std::string("compute.experts"))};

  report::StepBand band;
  // An event-driven run does not report how much of its computing is compression.
  const double added =
      std::isfinite(run.compression_seconds) ? std::clamp(run.compression_seconds, 0.0, run.compute_seconds) : 0;
  const double exposed = std::max(0.0, run.step_seconds - run.compute_seconds);
  const auto add = [&](const std::string& category, double seconds, std::string cause,
                       std::optional<report::Statement> basis, double rate = 0) {
    // A time that is only rounding error of a difference is left out.
    if (seconds > 1e-9 * run.step_seconds)
      band.parts.push_back({category, seconds, std::move(cause), std::move(basis), seconds * rate});
  };
  const spec::DeviceSpec& device = cluster.devices.front();
  const std::size_t before = band.parts.size();
  add(compute.category, run.compute_seconds - added, fmt::format("computing on {}", fmt::join(names, ", ")),
      compute.basis, names.size() == 1 ? device.memory_bandwidth / device.slowdown : 0);
  if (band.parts.size() > before && !measured && scenario.timed_as && scenario.timed_as->of_other_network())
    band.parts.back().unseen = estimate::unseen_in(setting_of(scenario, device), estimate::seen_steps());
  // Compression consists of thin matrix products and passes over memory, for which no measurements exist.
  add("compute.assumed", added, "compression by " + run.spec.algorithm, report::Statement{"compression-assumed"});
  std::string carried = "messages";
  for (const step::NetworkUse::Collective& one : run.network.collectives)
    carried += fmt::format("; {} as {}", one.kind, one.algorithm);
  add(experts && timed.parallelism.experts > 1 ? "network.experts"
                                               : network_category(scenario.framework, scenario.network, run),
      exposed, carried, {});
  const estimate::Band factors = estimate::band_of(band.parts);
  band.low = run.step_seconds * factors.low;
  band.high = run.step_seconds * factors.high;
  run.step_band = std::move(band);
}

constexpr double kSecondsPerHour = 3600;
constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kBytesPerGigabyte = 1e9;

/// Costs of a device while it is rented.
struct Terms {
  std::optional<double> per_second;
  std::optional<double> busy_watts, idle_watts;
};

const spec::CostSpec::Price* own_price(const spec::CostSpec& costs, const std::string& device) {
  const auto found = std::ranges::find(costs.prices, device, &spec::CostSpec::Price::device);
  return found == costs.prices.end() ? nullptr : &*found;
}

class Bill {
 public:
  explicit Bill(const scenario::Scenario& scenario) : costs_(*scenario.costs) {
    for (const spec::Placement& worker : scenario.all_devices()) nodes_.push_back(terms_of(scenario, worker.device));
    if (scenario.aggregator) nodes_.push_back(terms_of(scenario, scenario.aggregator->device));
    workers_ = scenario.all_devices().size();
    if (!costs_.lines.empty()) rent_lines(sim::platform_links(scenario.platform));
  }

  /// Returns the rent of all lines per month; none if no line has a price.
  std::optional<double> lines_per_month() const {
    return costs_.lines.empty() ? std::nullopt : std::optional(lines_per_second_ * spec::kMonth);
  }

  /// Returns the costs of `steps` steps that take `seconds` in total and send `bytes`, of which `paid_bytes` cost
  /// egress. `share_of_price`: factor on the devices' price.
  report::Costs of(const report::RunResult& run, double steps, double seconds, double bytes, double paid_bytes,
                   double share_of_price = 1) const {
    report::Costs costs;
    double money = paid_bytes / kBytesPerGigabyte * costs_.egress_per_gb + seconds * costs_.rent / spec::kMonth;
    if (run.spec.communicates) money += seconds * lines_per_second_;  // without communication, no lines are rented
    double joules = bytes / kBytesPerGigabyte * costs_.network_energy * kJoulesPerKwh;
    bool priced = true;
    bool powered = true;
    const std::size_t devices = run.busy_seconds.size() < workers_ ? run.workers : workers_;
    for (std::size_t node = 0; node < run.busy_seconds.size(); ++node) {
      // A run of fewer workers uses the first nodes; the aggregator follows these nodes.
      const Terms& terms = nodes_[node < devices ? node : workers_];
      priced = priced && terms.per_second;
      powered = powered && terms.busy_watts;
      if (terms.per_second) money += seconds * *terms.per_second * share_of_price;
      if (!terms.busy_watts) continue;
      const double busy = std::min(steps * run.busy_seconds[node], seconds);
      joules += costs_.overhead * (busy * *terms.busy_watts + (seconds - busy) * *terms.idle_watts);
    }
    if (powered) costs.joules = joules;
    if (powered && costs_.carbon > 0) costs.carbon = joules / kJoulesPerKwh * costs_.carbon;
    const bool pays_energy = costs_.electricity > 0;
    if (priced && (powered || !pays_energy))
      costs.money = money + (pays_energy ? joules / kJoulesPerKwh * costs_.electricity : 0);
    return costs;
  }

  /// Returns the assumed terms.
  std::vector<report::Statement> terms() const {
    std::vector<report::Statement> statements;
    for (const auto& [device, statement] : device_terms_) statements.push_back(statement);
    report::Statement shared{"cost-terms"};
    shared.with("currency", costs_.currency);
    if (costs_.egress_per_gb > 0) shared.with("egress_per_gb", costs_.egress_per_gb);
    if (!costs_.egress_links.empty()) shared.with("egress_links", costs_.egress_links);
    if (!costs_.lines.empty()) {
      shared.with("lines_per_month", *lines_per_month()).with("line_links", line_links_);
      shared.with("line_count", line_count_).with("line_mbps", line_mbps_).with("line_price", line_price_);
    }
    if (costs_.rent > 0) shared.with("rent", costs_.rent);
    if (costs_.purchase > 0) shared.with("purchase", costs_.purchase);
    if (costs_.electricity > 0) shared.with("electricity", costs_.electricity);
    if (costs_.overhead > 1) shared.with("overhead", costs_.overhead);
    if (costs_.network_energy > 0) shared.with("network_energy", costs_.network_energy);
    statements.push_back(std::move(shared));
    return statements;
  }

 private:
  void rent_lines(const std::vector<sim::PlatformLink>& links) {
    for (const spec::CostSpec::LinePrice& line : costs_.lines) {
      double mbps = 0;
      std::size_t count = 0;
      for (const sim::PlatformLink& link : links) {
        if (!fits(line.link, link.name) && line.link != link.link_class) continue;
        ++count;
        mbps += link.bandwidth * 8 / 1e6;
      }
      lines_per_second_ += mbps * line.per_mbps_month / spec::kMonth;
      line_links_.push_back(line.link);
      line_count_.push_back(static_cast<double>(count));
      line_mbps_.push_back(mbps);
      line_price_.push_back(line.per_mbps_month);
    }
  }

  Terms terms_of(const scenario::Scenario& scenario, const std::string& name) {
    const spec::DeviceSpec& device = find_device(scenario.devices, name);
    const spec::CostSpec::Price* own = own_price(costs_, name);
    Terms terms;
    report::Statement statement{"device-price", {name}};
    statement.with("currency", costs_.currency);
    if (own != nullptr && own->per_hour) {
      terms.per_second = *own->per_hour / kSecondsPerHour;
      statement.with("per_hour", *own->per_hour);
    } else if (const estimate::DevicePrice* price = estimate::find_price(name, costs_);
               price != nullptr && costs_.currency == "USD") {
      terms.per_second = price->per_hour / kSecondsPerHour;
      statement.with("per_hour", price->per_hour).with("source", fmt::format("{}, {}", price->source, price->date));
      if (costs_.term != spec::PriceTerm::on_demand) statement.with("term", to_string(costs_.term));
    }
    if (device.power > 0) {
      const bool idle_known = own != nullptr && own->idle_power;
      terms.busy_watts = device.power;
      terms.idle_watts = idle_known ? *own->idle_power : spec::kIdleShare * device.power;
      statement.with("watts", *terms.busy_watts)
          .with("idle_watts", *terms.idle_watts)
          .with("idle_assumed", !idle_known);
    }
    device_terms_.insert_or_assign(name, std::move(statement));
    return terms;
  }

  const spec::CostSpec& costs_;
  std::size_t workers_ = 0;
  std::vector<Terms> nodes_;  ///< workers, then the aggregator
  std::map<std::string, report::Statement> device_terms_;
  double lines_per_second_ = 0;
  std::vector<std::string> line_links_;
  std::vector<double> line_count_, line_mbps_, line_price_;
};

/// Returns the paid bytes per sent byte: 1 if no links are named; else only bytes on the named links count, once for
/// each of these links.
double paid_bytes_per_byte(const spec::CostSpec& costs, const report::RunResult& run) {
  if (costs.egress_links.empty() || run.total_bytes == 0) return 1;
  double paid = 0;
  for (const step::LinkUse& use : run.network.link_use) {
    if (use.link == costs.egress_links || use.link_class == costs.egress_links) paid += use.bytes_per_step;
  }
  return paid * static_cast<double>(run.steps) / run.total_bytes;
}

/// Returns the expected time and costs of `steps` steps on spot machines. Repeated steps send again; waiting machines
/// count as busy.
report::SpotCosts on_spot(const spec::CostSpec::SpotPrice& spot, const Bill& bill, const report::RunResult& run,
                          double steps, double seconds, double bytes, double paid_bytes) {
  estimate::Interruptions what{
      .per_second = spot.interruptions / kSecondsPerHour * static_cast<double>(run.busy_seconds.size()),
      .checkpoint_every = spot.checkpoint_every,
      .checkpoint_seconds = spot.checkpoint_time,
      .restart_seconds = spot.restart};
  if (what.checkpoint_every == 0) what.checkpoint_every = best_interval(what);
  report::SpotCosts costs;
  costs.slowdown = expected_slowdown(what);
  costs.seconds = seconds * costs.slowdown;
  costs.interruptions = costs.seconds * what.per_second;
  costs.checkpoint_every = what.checkpoint_every;
  costs.costs = bill.of(run, steps * costs.slowdown, costs.seconds, bytes * costs.slowdown, paid_bytes * costs.slowdown,
                        spot.price);
  return costs;
}

double bytes_to_target(const report::RunResult& run) {
  const auto at = std::ranges::find(run.curve, run.target_step, &report::CurvePoint::step);
  return at == run.curve.end() ? 0 : at->bytes;
}

/// Fills in the costs of every run, and their terms. Without <costs>, the result is unchanged.
///
/// Money is hours × the prices of workers and aggregator, plus egress of sent bytes, rent of lines for that time, and
/// electricity. For energy, a device draws its power while it computes and its idle power otherwise, times the overhead
/// of the building; the network takes the scenario's energy per byte. Money or energy is unknown if a device's price or
/// power is unknown.
void add_costs(const scenario::Scenario& scenario, report::Result& result) {
  if (!scenario.costs) return;
  result.currency = scenario.costs->currency;
  result.purchase = scenario.costs->purchase;
  Bill bill(scenario);
  for (report::RunResult& run : result.runs) {
    const auto steps = static_cast<double>(run.steps);
    if (run.steps == 0) continue;
    const double paid_share = paid_bytes_per_byte(*scenario.costs, run);
    const auto cost_of = [&](double of_steps, double seconds, double bytes) {
      return bill.of(run, of_steps, seconds, bytes, bytes * paid_share);
    };
    report::RunCosts costs;
    costs.whole = cost_of(steps, run.total_seconds, run.total_bytes);
    costs.per_step = cost_of(1, run.step_seconds, run.total_bytes / steps);
    const report::TargetOverSeeds target = report::target_over_seeds(run);
    if (target.reached)
      costs.to_target = cost_of(target.steps, target.seconds, report::longer_over_seeds(run) * bytes_to_target(run));
    if (run.at_scale && run.at_scale->time && result.scale && result.scale->known) {
      const double needed = result.scale->known->steps * run.at_scale->relative.ratio->value;
      costs.at_scale = cost_of(needed, run.at_scale->time->value, needed * run.total_bytes / steps);
    }
    if (costs.per_step.money && run.step_seconds > 0)
      costs.per_month = *costs.per_step.money / run.step_seconds * spec::kMonth;
    if (scenario.costs->spot) {
      // The longest meaningful duration.
      double of_steps = steps;
      double seconds = run.total_seconds;
      if (costs.at_scale) {
        of_steps = result.scale->known->steps * run.at_scale->relative.ratio->value;
        seconds = run.at_scale->time->value;
      } else if (costs.to_target) {
        of_steps = target.steps;
        seconds = target.seconds;
      }
      const double bytes = of_steps * run.total_bytes / steps;
      costs.spot = on_spot(*scenario.costs->spot, bill, run, of_steps, seconds, bytes, bytes * paid_share);
    }
    run.costs = costs;
  }
  result.lines_per_month = bill.lines_per_month();
  for (report::Statement& statement : bill.terms()) result.assumptions.push_back(std::move(statement));
}

double best_of(const std::vector<step::Evaluation>& curve) {
  double best = 0;
  for (const step::Evaluation& at : curve) best = std::max(best, at.accuracy);
  return best;
}

/// Returns the seconds until `step` steps are done, for a run that is learned step by step. Uses the run's curve; after
/// its end, mean steps.
double seconds_at(const report::RunResult& run, std::int64_t step) {
  const auto after = std::ranges::lower_bound(run.curve, step, {}, &report::CurvePoint::step);
  const auto steps = static_cast<double>(step);
  if (after == run.curve.end()) {
    if (run.curve.empty()) return steps * run.step_seconds;
    const report::CurvePoint& last = run.curve.back();
    return last.seconds + (steps - static_cast<double>(last.step)) * run.step_seconds;
  }
  if (after->step == step) return after->seconds;
  const report::CurvePoint before = after == run.curve.begin() ? report::CurvePoint{} : *std::prev(after);
  const double share = (steps - static_cast<double>(before.step)) / static_cast<double>(after->step - before.step);
  return before.seconds + share * (after->seconds - before.seconds);
}

/// Returns the scatter between seeds of the time to the target, measured for the run's method or its compression; the
/// larger of both.
double seed_scatter_of(const spec::RunSpec& run, bool exact) {
  if (exact) return estimate::seed_scatter("exact");
  const methods::MethodInfo* method = protocols::find_method(run.algorithm);
  const compress::CompressorInfo* compressor = compress::compressors().find(run.compress.method);
  const bool compressed = compressor != nullptr && !compressor->lossless;
  const double scatter = std::max(estimate::seed_scatter(method == nullptr ? "unknown" : method->family),
                                  compressed ? estimate::seed_scatter(compressor->family) : 0);
  // An exact method that is not exact here learns with other weights, or without some sites. Its scatter was not
  // measured.
  return scatter > 0 ? scatter : estimate::seed_scatter("unknown");
}

/// Fills in, per seed, when run `i` reached the target, and its accuracies (RunResult::arrivals, best_accuracies,
/// final_accuracies). Event-driven runs have the first seed only.
void add_arrivals(const Learned& learned, std::size_t i, double target, report::RunResult& run) {
  run.arrivals = {run.arrival()};
  run.best_accuracies = {run.best_accuracy};
  run.final_accuracies = {run.final_accuracy};
  if (run.spec.event_driven) return;
  for (const std::vector<LearnedRunPtr>& seed : learned.other_seeds) {
    const std::vector<step::Evaluation>& curve = seed.at(i)->trajectory.curve;
    run.best_accuracies.push_back(best_of(curve));
    run.final_accuracies.push_back(curve.back().accuracy);
    std::optional<estimate::Arrival>& arrival = run.arrivals.emplace_back();
    if (const auto passage = estimate::passage_of(curve, target))
      arrival = {seconds_at(run, passage->after), seconds_at(run, passage->at), static_cast<double>(passage->at)};
  }
  for (std::size_t k = 0; k < run.curve.size() && !learned.other_seeds.empty(); ++k) {
    std::vector<double> by_seed{run.curve[k].accuracy};
    for (const std::vector<LearnedRunPtr>& seed : learned.other_seeds) {
      const std::vector<step::Evaluation>& curve = seed.at(i)->trajectory.curve;
      if (k >= curve.size() || curve[k].step != run.curve[k].step) return;
      by_seed.push_back(curve[k].accuracy);
    }
    run.accuracy_over_seeds.push_back(report::over_seeds(by_seed));
  }
}

/// Returns the timelines with the dates of their steps.
std::vector<report::TracedStep> traced_steps(const TimedSteps& run) {
  std::vector<report::TracedStep> traced;
  double date = 0;
  std::int64_t done = 0;
  auto timeline = run.timings.timelines.begin();
  for (const std::int64_t step : existing_steps(run.trajectory, run.traced_steps)) {
    for (; done < step - 1; ++done) {
      const auto index = static_cast<std::size_t>(run.trajectory.steps[static_cast<std::size_t>(done)]);
      date += (done == 0 && run.timings.first ? *run.timings.first : run.timings.steps[index]).seconds;
    }
    traced.push_back(
        {step, step == 1 && run.timings.first, date, step == 1 ? run.timings.first_timeline : *timeline++});
  }
  return traced;
}

/// Returns how a run that was learned first has diverged, even if its evaluations are still finite; none if it has not.
std::optional<report::Divergence> divergence_of(const step::Trajectory& trajectory,
                                                const std::vector<report::CurvePoint>& curve) {
  if (trajectory.diverged_at == 0) return report::divergence_of(curve);
  return report::Divergence{trajectory.diverged_at, curve.front().loss, std::numeric_limits<double>::quiet_NaN()};
}

/// Returns the number of devices on which the run is timed.
std::size_t devices_of(const ResultContext& context, const spec::RunSpec& run) {
  if (has_islands(context.scenario, run)) return scenario::participants_of(context.scenario, run);
  const bool pooled = algorithms::algorithm_registry().at(run.algorithm).sharing == algorithms::Sharing::pooled;
  return pooled ? static_cast<std::size_t>(context.timed.parallelism.devices()) : context.scenario.all_devices().size();
}

/// Counts all devices of a participant as busy whenever the participant is busy.
void repeat_busy_devices(const scenario::Scenario& scenario, report::RunResult& result) {
  const std::size_t each = scenario::devices_of_participant(scenario, result.spec);
  std::vector<double> busy;
  for (std::size_t node = 0; node < result.busy_seconds.size(); ++node)
    busy.insert(busy.end(), node < result.workers ? each : 1, result.busy_seconds[node]);
  result.busy_seconds = std::move(busy);
}

void add_memory(const RunMemory& memory, report::RunResult& result) {
  result.memory = memory.use;
  result.memory_moments = memory.moments;
  result.device_memory = memory.available;
}

}  // namespace

std::vector<std::int64_t> existing_steps(const step::Trajectory& trajectory, const std::vector<std::int64_t>& steps) {
  std::vector<std::int64_t> existing = steps;
  std::erase_if(existing, [&](std::int64_t step) { return step > static_cast<std::int64_t>(trajectory.steps.size()); });
  return existing;
}

report::RunResult result_of_steps(const ResultContext& context, std::size_t i, const TimedSteps& run) {
  const auto& [scenario, learned, timed, cluster, memory, time_another] = context;
  const step::Trajectory& trajectory = learned.runs[i]->trajectory;
  report::RunResult result =
      report::summarise(scenario.runs[i], run.trajectory, run.timings.steps, devices_of(context, scenario.runs[i]),
                        scenario.training.target_accuracy, run.timings.first, run.timings.stand_for);
  if (has_islands(scenario, scenario.runs[i])) repeat_busy_devices(scenario, result);
  result.network = run.timings.network;
  result.traced = traced_steps(run);
  result.statistics = statistics_of(trajectory, run.assignment, timed.shape);
  result.first_steps = run.timings.first_steps;
  if (!learned.nothing) {
    result.divergence = divergence_of(trajectory, result.curve);
    annotate_transfer(scenario, learned, i, timed, result);
  }
  add_memory(memory[i], result);
  return result;
}

report::RunResult result_of_events(const ResultContext& context, std::size_t i, report::EventDrivenRun run) {
  report::RunResult result =
      report::summarise(context.scenario.runs[i], std::move(run), context.scenario.training.target_accuracy);
  repeat_busy_devices(context.scenario, result);
  if (!context.learned.nothing) result.divergence = report::divergence_of(result.curve);
  add_memory(context.memory[i], result);
  return result;
}

void complete(const ResultContext& context, const std::optional<report::ScaleSetting>& scale, report::Result& result) {
  const auto& [scenario, learned, timed, cluster, memory, time_another] = context;
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    add_band(scenario, timed, cluster, result.runs[i]);
    result.runs[i].is_baseline = result.runs[i].spec.algorithm == algorithms::baseline().name;
    result.runs[i].exact = learns_the_pooled_gradient(result.runs[i].spec);
    result.runs[i].seed_scatter = seed_scatter_of(result.runs[i].spec, result.runs[i].exact);
    if (!learned.nothing) add_arrivals(learned, i, scenario.training.target_accuracy, result.runs[i]);
  }
  if (scale && learned.nothing) add_scale_by_definition(scenario, *scale, result);
  if (scale && !learned.nothing) add_scale(scenario, *scale, learned, result);
  add_throughput(scenario, learned, timed, time_another, result);
  add_costs(scenario, result);
  for (std::size_t i = 0; i < result.runs.size(); ++i) {
    result.runs[i].notes = notes_of({result.runs[i], *learned.runs[i], timed, result.timed_as_other, learned.nothing});
  }
}

}  // namespace dadsim::study
