#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/run/result_document.hpp"
#include "report/words/phrases.hpp"

namespace dadsim::report {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMostLinks = 12;  // largest number of links in a chart, the busiest first
constexpr std::int64_t kMostStalenessBars = 30;

std::vector<std::string> labels_of(const Result& result) {
  std::vector<std::string> labels;
  for (const RunResult& run : result.runs) labels.push_back(run.spec.label);
  return labels;
}

/// Returns a value per run.
template <class Value>
std::vector<double> of_runs(const Result& result, const Value& value) {
  std::vector<double> values;
  for (const RunResult& run : result.runs) values.push_back(value(run));
  return values;
}

/// Returns a chart of accuracy against time: the mean and deviation of several seeds, or the curve of the one seed.
Chart learning_curves(const Result& result) {
  Chart chart{.name = "accuracy",
              .title = "Accuracy against simulated time",
              .x = {"simulated time", Unit::seconds},
              .y = {.title = "accuracy", .unit = Unit::share, .from_least = true},
              .own_script = true};
  for (const RunResult& run : result.runs) {
    ChartSeries& series = chart.series.emplace_back(ChartSeries{.label = run.spec.label});
    const bool by_seed = !run.accuracy_over_seeds.empty();
    for (std::size_t i = 0; i < (by_seed ? run.accuracy_over_seeds.size() : run.curve.size()); ++i) {
      ChartPoint point{.x = run.curve[i].seconds, .y = run.curve[i].accuracy};
      if (by_seed) {
        const auto [mean, deviation] = run.accuracy_over_seeds[i];
        point = {.x = point.x, .y = mean, .low = mean - deviation, .high = mean + deviation, .deviation = deviation};
      }
      series.points.push_back(point);
    }
  }
  chart.limits = {{result.target_accuracy, "target " + words::accuracy_in_words(result.target_accuracy)}};
  chart.choose_scales();
  chart.y.logarithmic = false;
  return chart;
}

Chart bytes_of_step(const Result& result) {
  Chart chart{.name = "bytes",
              .title = "Payload that a worker sends and receives in a step, mean over workers and steps",
              .kind = Chart::Kind::bars,
              .y = {"", Unit::bytes},
              .names = labels_of(result)};
  chart.add_bars("up (sent)", of_runs(result, [](const RunResult& run) { return run.bytes_up_per_worker; }), "up");
  chart.add_bars("down (received)", of_runs(result, [](const RunResult& run) { return run.bytes_down_per_worker; }),
                 "down");
  chart.choose_scales();
  return chart;
}

/// Adds a series of bars, one per use, for each kind of memory that at least one use contains.
void add_memory(const std::vector<estimate::MemoryUse>& uses, Chart& chart) {
  using Memory = estimate::MemoryUse;
  constexpr std::pair<const char*, double Memory::*> kParts[] = {
      {"parameters", &Memory::parameters}, {"master copies", &Memory::master_copies}, {"optimizer", &Memory::optimizer},
      {"gradients", &Memory::gradients},   {"activations", &Memory::activations},     {"scores", &Memory::scores},
      {"algorithm", &Memory::algorithm}};
  for (const auto& [label, part] : kParts) {
    std::vector<double> values;
    for (const Memory& use : uses) values.push_back(use.*part);
    if (std::ranges::any_of(values, [](double value) { return value > 0; })) chart.add_bars(label, values);
  }
}

/// Returns a chart of the memory of a worker's device over the moments of a step, for a run and `more` runs with the
/// same memory.
Chart memory_over_step(const RunResult& run, std::ptrdiff_t more) {
  const std::string others = more > 0 ? fmt::format(" and {} more with equal memory", more) : "";
  Chart chart{.name = "memory-over-step-" + run.spec.label,
              .title = fmt::format("Memory of a worker over a step: {}{}", run.spec.label, others),
              .kind = Chart::Kind::stacked,
              .y = {"", Unit::bytes}};
  std::vector<estimate::MemoryUse> uses;
  for (const estimate::MemoryMoment& moment : run.memory_moments) {
    chart.names.push_back(moment.when);
    uses.push_back(moment.use);
  }
  add_memory(uses, chart);
  if (run.device_memory > 0) chart.limits.push_back({run.device_memory, "memory of the device"});
  return chart;
}

/// Returns one chart per distinct course of memory over a step.
std::vector<Chart> memory_over_steps(const Result& result) {
  std::vector<Chart> charts;
  for (const RunResult& run : result.runs) {
    const auto like = [&](const RunResult& other) {
      return std::ranges::equal(other.memory_moments, run.memory_moments, {}, &estimate::MemoryMoment::use,
                                &estimate::MemoryMoment::use);
    };
    if (run.memory_moments.empty() || &*std::ranges::find_if(result.runs, like) != &run) continue;
    charts.push_back(memory_over_step(run, std::ranges::count_if(result.runs, like) - 1));
  }
  return charts;
}

Chart memory_of_worker(const Result& result) {
  Chart chart{.name = "memory",
              .title = "Memory of a worker in a step, with the mean batch",
              .kind = Chart::Kind::stacked,
              .y = {"", Unit::bytes},
              .names = labels_of(result)};
  std::vector<estimate::MemoryUse> uses;
  for (const RunResult& run : result.runs) uses.push_back(run.memory);
  add_memory(uses, chart);
  for (std::size_t i = 0; i < result.runs.size(); ++i)
    if (result.runs[i].device_memory > 0)
      chart.names[i] += fmt::format(" (of {})", in_words(result.runs[i].device_memory, Unit::bytes));
  return chart;
}

/// Returns a chart of the time to accuracy of the workload, with 95 % intervals; or of the relative steps, if the
/// number of steps that the workload needs is unknown.
Chart scale_of(const Result& result) {
  const bool known = result.scale->known.has_value();
  Chart chart{.name = "scale",
              .title = known ? "Time to accuracy with 95 % intervals"
                             : "Steps relative to gradient sharing, with 95 % intervals",
              .kind = Chart::Kind::bars,
              .y = {known ? "time to accuracy" : "relative steps", known ? Unit::seconds : Unit::plain}};
  ChartSeries& series = chart.series.emplace_back(ChartSeries{.label = chart.y.title, .part = "compute"});
  for (const RunResult& run : result.runs) {
    if (!run.at_scale) continue;
    const std::optional<estimate::Estimate>& at = known ? run.at_scale->time : run.at_scale->relative.ratio;
    if (at)
      series.points.push_back(
          {.x = static_cast<double>(chart.names.size()), .y = at->value, .low = at->low, .high = at->high});
    chart.names.push_back(run.spec.label);
  }
  chart.choose_scales();
  return chart;
}

Chart ranks_of_layers(const RunResult& run, const std::vector<std::string>& layers) {
  Chart chart{.name = "ranks-" + run.spec.label,
              .title = "Effective rank of the gradients' layers: " + run.spec.label,
              .x = {.title = "epoch", .unit = Unit::count, .from_least = true},
              .y = {.title = "components"}};
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    for (const auto& [which, ranks] :
         {std::pair{"per site", &step::EpochRanks::site}, std::pair{"merged", &step::EpochRanks::merged}}) {
      ChartSeries& series =
          chart.series.emplace_back(ChartSeries{.label = fmt::format("{}, {}", layers[layer], which)});
      for (const step::EpochRanks& epoch : run.ranks)
        series.points.push_back({.x = static_cast<double>(epoch.epoch), .y = (epoch.*ranks).at(layer)});
    }
  }
  return chart;
}

Chart busy_links(const RunResult& run) {
  Chart chart{.name = "links-" + run.spec.label,
              .title = "Share of a step in which links are busy: " + run.spec.label,
              .kind = Chart::Kind::bars,
              .y = {"busy", Unit::share}};
  std::vector<step::LinkUse> uses(run.network.link_use.begin(), run.network.link_use.end());
  std::ranges::stable_sort(uses, std::ranges::greater{}, &step::LinkUse::busy_share);
  uses.resize(std::min(uses.size(), kMostLinks));
  std::vector<double> shares;
  for (const step::LinkUse& use : uses) {
    chart.names.push_back(use.link);
    shares.push_back(use.busy_share);
  }
  chart.add_bars("busy", shares);
  return chart;
}

/// Returns a histogram of staleness: the number of model updates between reading and writing. Adjacent values share a
/// bar if the largest staleness is at least kMostStalenessBars.
Chart staleness_of(const RunResult& run) {
  const step::Participation& took_part = run.event_driven->participation;
  Chart chart{.name = "staleness-" + run.spec.label,
              .title = fmt::format("Staleness in {}, mean {:.3g}", run.spec.label, took_part.mean_staleness()),
              .kind = Chart::Kind::bars,
              .y = {"how often", Unit::count}};
  const auto most = static_cast<std::int64_t>(took_part.staleness.rbegin()->first);
  const std::int64_t width = most / kMostStalenessBars + 1;
  std::vector<double> times(static_cast<std::size_t>(most / width + 1), 0.0);
  for (const auto& [updates, count] : took_part.staleness)
    times.at(static_cast<std::size_t>(static_cast<std::int64_t>(updates) / width)) += static_cast<double>(count);
  for (std::int64_t i = 0; i < std::ssize(times); ++i)
    chart.names.push_back(width == 1 ? fmt::format("{}", i) : fmt::format("{} … {}", i * width, (i + 1) * width - 1));
  chart.add_bars("how often", times, "compute");
  return chart;
}

/// Returns a chart of participation over time, a row per worker, limited as on the page (participation.js).
Chart timeline_of(const RunResult& run) {
  constexpr std::size_t kMostRows = 40;
  constexpr std::size_t kMostParts = 4000;
  using End = step::Participation::Part::End;
  const EventDrivenResult& event_driven = *run.event_driven;
  Chart chart{.name = "participation-" + run.spec.label,
              .title = "Participation of workers over time: " + run.spec.label,
              .kind = Chart::Kind::spans,
              .y = {"simulated time", Unit::seconds},
              .series = {{"went into the model"}, {"came too late"}, {"never came"}, {"was down"}},
              .own_script = true};
  const std::size_t rows = std::min(event_driven.workers, kMostRows);
  for (std::size_t i = 0; i < rows; ++i)
    chart.names.push_back(i < event_driven.hosts.size() ? fmt::format("worker {} ({})", i, event_driven.hosts[i])
                                                        : fmt::format("worker {}", i));
  const auto has_row = [&](std::int32_t node) { return node >= 0 && static_cast<std::size_t>(node) < rows; };
  std::size_t drawn = 0;
  for (const step::Participation::Part& part : event_driven.participation.parts) {
    if (!has_row(part.client) || drawn++ >= kMostParts) continue;
    const std::size_t end = part.end == End::used ? 0 : part.end == End::late ? 1 : 2;
    chart.series[end].points.push_back({.x = static_cast<double>(part.client),
                                        .y = part.ended,
                                        .words = fmt::format("round {}", part.round),
                                        .begin = part.asked});
  }
  for (const step::EventLog::Outage& outage : event_driven.log.outages) {
    if (has_row(outage.node))
      chart.series.back().points.push_back(
          {.x = static_cast<double>(outage.node), .y = outage.end, .begin = outage.begin});
  }
  std::erase_if(chart.series, [](const ChartSeries& series) { return series.points.empty(); });
  return chart;
}

}  // namespace

Chart step_parts(const Result& result, bool own_script) {
  Chart chart{.name = "step",
              .title = "Time of a step by cause",
              .kind = Chart::Kind::stacked,
              .y = {"a step", Unit::seconds},
              .names = labels_of(result),
              .own_script = own_script};
  std::vector<std::string> kinds{"bandwidth", "queueing", "latency", "compute"};
  std::vector<std::vector<std::pair<std::string, double>>> parts;
  for (const RunResult& run : result.runs) {
    auto& own = parts.emplace_back();
    for (const Cause& cause : causes_of(run)) own.emplace_back(cause.kind, cause.seconds);
    if (own.empty() && std::isfinite(run.step_seconds))
      own = {{"compute", run.compute_seconds}, {"waiting for the network or for others", run.exposed_seconds}};
    for (const auto& [kind, seconds] : own)
      if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  for (const std::string& kind : kinds) {
    std::vector<double> values;
    for (const auto& own : parts) {
      const auto found = std::ranges::find(own, kind, &std::pair<std::string, double>::first);
      values.push_back(found == own.end() ? kNotKnown : found->second);
    }
    if (std::ranges::any_of(values, [](double value) { return value > 0; }))
      chart.add_bars(cause_in_words(kind), values, kind);
  }
  return chart;
}

std::vector<Chart> charts_of(const Result& result) {
  std::vector<Chart> charts;
  const auto some = [&](auto&& has) { return std::ranges::any_of(result.runs, has); };
  if (!result.timing_only) charts.push_back(learning_curves(result));
  if (some([](const RunResult& run) { return std::isfinite(run.step_seconds); }))
    charts.insert(charts.end(), {step_parts(result, true), bytes_of_step(result)});
  if (result.scale && some([](const RunResult& run) { return run.at_scale.has_value(); }))
    charts.push_back(scale_of(result));
  for (const RunResult& run : result.runs) {
    if (!run.ranks.empty()) charts.push_back(ranks_of_layers(run, result.layer_names));
    if (!run.network.link_use.empty()) charts.push_back(busy_links(run));
    if (run.event_driven) charts.push_back(timeline_of(run));
    if (run.event_driven && !run.event_driven->participation.staleness.empty()) charts.push_back(staleness_of(run));
  }
  if (some([](const RunResult& run) { return run.memory.total() > 0; })) charts.push_back(memory_of_worker(result));
  for (Chart& chart : memory_over_steps(result)) charts.push_back(std::move(chart));
  std::erase_if(charts, [](const Chart& chart) {
    return std::ranges::all_of(chart.series, [](const ChartSeries& series) { return series.points.empty(); });
  });
  return charts;
}

}  // namespace dadsim::report
