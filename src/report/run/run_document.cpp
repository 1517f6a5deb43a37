#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "report/run/answer.hpp"
#include "report/run/contender.hpp"
#include "report/run/over_seeds.hpp"
#include "report/run/result_document.hpp"
#include "report/run/table.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::report {
namespace {

/// Largest number of participations of clients in rounds that the JSON lists, about 3 MB of text. The JSON gives the
/// number of omitted ones.
constexpr std::size_t kMostPartsWritten = 20'000;

/// Returns an object with a member per name.
template <class Values, class Convert>
DocumentTable members_of(const Values& values, const Convert& convert) {
  DocumentTable table{.object = true};
  TableRow row = table.add_row();
  for (const auto& [name, value] : values) row.add(name, convert(value));
  return table;
}

/// Returns parameters as an object. Their texts are checked before; finite numbers are written as numbers.
DocumentTable object_of(const spec::ParameterValues& values) {
  return members_of(values, [](const std::string& text) -> DocumentValue {
    if (const auto integer = parse_whole<std::int64_t>(text)) return *integer;
    if (const auto real = parse_whole<double>(text); real && std::isfinite(*real)) return *real;
    return text;
  });
}

DocumentTable band_object(const std::optional<double>& low, const std::optional<double>& high) {
  DocumentTable table{.object = true};
  table.add_row().add("low", low).add("high", high);
  return table;
}

DocumentTable object_of(const std::optional<estimate::Estimate>& estimate) {
  DocumentTable table{.object = true};
  table.add_row()
      .add("value", estimate ? DocumentValue(estimate->value) : DocumentValue())
      .add("low", estimate ? DocumentValue(estimate->low) : DocumentValue())
      .add("high", estimate ? DocumentValue(estimate->high) : DocumentValue());
  return table;
}

DocumentTable ranks_of(const RunResult& run, const std::vector<std::string>& layer_names) {
  DocumentTable ranks;
  for (const step::EpochRanks& epoch : run.ranks) {
    if (epoch.site.size() != layer_names.size() || epoch.merged.size() != layer_names.size()) {
      throw std::logic_error(fmt::format("ranks of {} layers for {} names", epoch.site.size(), layer_names.size()));
    }
    DocumentTable layers;
    for (std::size_t i = 0; i < layer_names.size(); ++i)
      layers.add_row().add("layer", layer_names[i]).add("site", epoch.site[i]).add("merged", epoch.merged[i]);
    ranks.add_row().add("epoch", epoch.epoch).add("layers", layers);
  }
  return ranks;
}

DocumentTable band_of(const RunResult& run) {
  DocumentTable table{.object = true}, parts;
  const std::optional<estimate::Band> factors = run.factors();
  if (!factors) return table;
  const TargetOverSeeds over = target_over_seeds(run);
  const auto of_target = [&over](double factor) {
    return over.reached ? std::optional(over.seconds * factor) : std::nullopt;
  };
  for (const estimate::TimePart& part : run.step_band->parts)
    parts.add_row().add("category", part.category).add("seconds", part.seconds).add("cause", part.cause);
  table.add_row()
      .add("step_seconds", band_object(run.step_band->low, run.step_band->high))
      .add("target_seconds", band_object(of_target(factors->low), of_target(factors->high)))
      .add("basis", estimate::basis_of(run.step_band->parts))
      .add("parts", parts);
  return table;
}

/// Adds, for each seed, the step of the evaluation that reached the target, and that of the evaluation before it.
void add_steps(const estimate::StepsToTarget& steps, TableRow& row) {
  std::vector<std::optional<std::int64_t>> at, after;
  for (const auto& one : steps) {
    at.push_back(one ? std::optional(one->at) : std::nullopt);
    after.push_back(one ? std::optional(one->after) : std::nullopt);
  }
  row.add("steps_to_target", at).add("steps_before_target", after);
}

DocumentTable object_of(const ScaleResult& scale) {
  DocumentTable table{.object = true}, further, ladder{.object = true};
  for (const ScaleAtTarget& at : scale.further) {
    TableRow row = further.add_row();
    row.add("target", at.target);
    add_steps(at.steps_to_target, row);
    row.add("relative_steps", object_of(at.relative.ratio)).add("why_not", at.relative.why_not);
  }
  if (scale.ladder)
    ladder.add_row()
        .add("study", scale.ladder->study)
        .add("rungs", scale.ladder->rungs)
        .add("trend", scale.ladder->trend)
        .add("decades_beyond", scale.ladder->decades_beyond)
        .add("measured", object_of(scale.ladder->measured));
  const auto range = scale.range_over_targets();
  TableRow row = table.add_row();
  add_steps(scale.steps_to_target, row);
  row.add("why_not", scale.relative.why_not)
      .add("further_targets", further)
      .add("ladder", ladder)
      .add("relative_steps_over_targets.least", range ? DocumentValue(range->first) : DocumentValue())
      .add("relative_steps_over_targets.greatest", range ? DocumentValue(range->second) : DocumentValue());
  return table;
}

DocumentTable object_of(const ScaleSetting& setting) {
  DocumentTable table{.object = true};
  const auto known = [&](double estimate::KnownSteps::*field) {
    return setting.known ? DocumentValue((*setting.known).*field) : DocumentValue();
  };
  table.add_row()
      .add("workload", setting.workload)
      .add("batch", setting.batch)
      .add("seeds", setting.seeds)
      .add("target", setting.known ? setting.known->target : "")
      .add("known_steps.value", known(&estimate::KnownSteps::steps))
      .add("known_steps.fewest", known(&estimate::KnownSteps::fewest))
      .add("known_steps.most", known(&estimate::KnownSteps::most))
      .add("source", setting.known ? DocumentValue(setting.known->source) : DocumentValue())
      .add("why_not", setting.why_not)
      .add("charged.evaluation_every", setting.charges.evaluation_every)
      .add("charged.evaluation_seconds", setting.charges.evaluation_seconds)
      .add("charged.start_up_seconds", setting.charges.start_up_seconds);
  return table;
}

DocumentTable object_of(const step::NetworkUse& use) {
  DocumentTable table{.object = true}, collectives, links;
  for (const step::NetworkUse::Collective& one : use.collectives)
    collectives.add_row()
        .add("kind", one.kind)
        .add("algorithm", one.algorithm)
        .add("least_bytes", one.least_bytes)
        .add("most_bytes", one.most_bytes)
        .add("count", one.count)
        .add("quicker", or_omitted(one.quicker));
  for (const step::NetworkUse::LinkClass& one : use.links)
    links.add_row()
        .add("class", one.name)
        .add("transport", one.transport)
        .add("bytes_per_second", one.bandwidth)
        .add("efficiency", one.efficiency)
        .add("directions", one.links);
  TableRow row = table.add_row();
  row.add("fidelity", use.fidelity)
      .add("fidelity_notes", use.fidelity_notes.empty() ? Omitted() : DocumentValue(use.fidelity_notes))
      .add("messages", use.messages);
  if (use.sampling)
    row.add("sampling.steps", use.sampling->steps)
        .add("sampling.simulated", use.sampling->simulated)
        .add("sampling.step_error", use.sampling->step_error);
  row.add("collectives", collectives).add("links", links);
  return table;
}

DocumentTable link_use_of(const RunResult& run) {
  DocumentTable links;
  for (const step::LinkUse& one : run.network.link_use)
    links.add_row()
        .add("link", one.link)
        .add("class", one.link_class)
        .add("bytes_per_second", one.bandwidth)
        .add("latency_seconds", one.latency)
        .add("bytes_per_step", one.bytes_per_step)
        .add("busy_share", one.busy_share);
  return links;
}

/// Returns means over several seeds, with deviations or intervals, as in the table of runs; null with one seed.
DocumentTable seeds_of(const RunResult& run) {
  DocumentTable table{.object = true}, seconds{.object = true};
  if (run.final_accuracies.size() < 2) return table;
  const auto of = [](const std::vector<double>& by_seed) {
    DocumentTable over{.object = true};
    if (by_seed.empty()) return over;
    const OverSeeds known = over_seeds(by_seed);
    over.add_row().add("mean", known.mean).add("deviation", known.deviation);
    return over;
  };
  if (const std::optional<estimate::Estimate> time =
          time_of(contender_of(run, Metric::time_to_target), Metric::time_to_target))
    seconds.add_row().add("mean", time->value).add("low", time->low).add("high", time->high);
  table.add_row()
      .add("seeds", run.final_accuracies.size())
      .add("missed", std::ranges::count(run.arrivals, false, &std::optional<estimate::Arrival>::has_value))
      .add("final_accuracy", of(run.final_accuracies))
      .add("best_accuracy", of(run.best_accuracies))
      .add("target_step", of(target_steps(run)))
      .add("target_seconds", seconds);
  return table;
}

DocumentTable curve_of(const RunResult& run) {
  DocumentTable curve;
  for (const CurvePoint& point : run.curve) {
    DocumentTable sites{.object = true};
    if (point.sites)
      sites.add_row()
          .add("average_loss", point.sites->average_loss)
          .add("average_accuracy", point.sites->average_accuracy)
          .add("consensus_distance", point.sites->consensus_distance)
          .add("accuracies", std::vector<double>(point.sites->accuracies.begin(), point.sites->accuracies.end()));
    curve.add_row()
        .add("step", point.step)
        .add("epochs", run.epochs_at(point))
        .add("seconds", point.seconds)
        .add("bytes", point.bytes)
        .add("loss", point.loss)
        .add("accuracy", point.accuracy)
        .add("auc", point.auc)
        .add("sites", point.sites ? DocumentValue(sites) : Omitted());
  }
  return curve;
}

struct LeakColumn {
  const char* name;
  double step::LeakFigures::*figure;
};
constexpr std::array kLeakColumns{
    LeakColumn{"rows_handed_over", &step::LeakFigures::rows_handed_over},
    LeakColumn{"samples_handed_over", &step::LeakFigures::samples_handed_over},
    LeakColumn{"span_in", &step::LeakFigures::span_in},
    LeakColumn{"span_out", &step::LeakFigures::span_out},
    LeakColumn{"span_excess", &step::LeakFigures::span_excess},
    LeakColumn{"best_sample_excess", &step::LeakFigures::best_sample_excess},
    LeakColumn{"accumulated_excess", &step::LeakFigures::accumulated_excess},
    LeakColumn{"labels", &step::LeakFigures::labels},
};

void add_columns(const step::LeakFigures& figures, TableRow& row) {
  for (const LeakColumn& column : kLeakColumns) row.add(column.name, figures.*column.figure);
}

/// Returns the leaks through a run's messages, a row per adversary.
DocumentTable leak_of(const RunResult& run) {
  DocumentTable leak;
  if (!run.leak) return leak;
  const auto known = [](double value) { return std::isnan(value) ? DocumentValue("none") : DocumentValue(value); };
  for (const step::AdversaryLeak& one : run.leak->adversaries) {
    DocumentTable curve, sites;
    for (const step::LeakPoint& point : one.curve)
      curve.add_row()
          .add("step", point.step)
          .add("seconds", point.seconds)
          .add("samples_handed_over", point.samples_handed_over)
          .add("accumulated_excess", point.accumulated_excess);
    for (std::size_t site = 0; site < one.sites.size(); ++site) {
      TableRow row = sites.add_row();
      row.add("site", run.leak->sampled.empty() ? site : static_cast<std::size_t>(run.leak->sampled[site]));
      add_columns(one.sites[site], row);
    }
    TableRow row = leak.add_row();
    row.add("adversary", spec::to_string(one.adversary));
    add_columns(one.all, row);
    row.add("epsilon", known(one.epsilon))
        .add("delta", known(one.delta))
        .add("every", run.leak->every)
        .add("measured", run.leak->measured)
        .add("sites_looked_at", one.sites.size())
        .add("not_measured", or_omitted(one.why_not))
        .add("curve", curve)
        .add("sites", sites);
  }
  return leak;
}

DocumentTable object_of(const EventDrivenResult& event_driven) {
  const step::Participation& participation = event_driven.participation;
  DocumentTable table{.object = true}, staleness, parts, outages;
  for (const auto& [updates, times] : participation.staleness)
    staleness.add_row().add("updates", updates).add("times", times);
  const std::size_t written = std::min(participation.parts.size(), kMostPartsWritten);
  for (std::size_t i = 0; i < written; ++i) {
    const step::Participation::Part& part = participation.parts[i];
    parts.add_row()
        .add("round", part.round)
        .add("worker", part.client)
        .add("begin_seconds", part.asked)
        .add("end_seconds", part.ended)
        .add("end", to_string(part.end));
  }
  for (const step::EventLog::Outage& outage : event_driven.log.outages)
    outages.add_row().add("node", outage.node).add("begin_seconds", outage.begin).add("end_seconds", outage.end);
  // Writes a list per figure, with one entry per worker.
  const std::vector<EventDrivenResult::Worker> workers = event_driven.per_worker();
  std::vector<std::string> hosts = event_driven.hosts;
  hosts.resize(workers.size());
  const auto of_workers = [&](auto field) {
    std::vector<std::remove_cvref_t<decltype(workers.front().*field)>> values;
    for (const EventDrivenResult::Worker& worker : workers) values.push_back(worker.*field);
    return values;
  };
  using Worker = EventDrivenResult::Worker;
  table.add_row()
      .add("stopped", event_driven.stopped)
      .add("samples", participation.samples)
      .add("contributions.asked", participation.asked)
      .add("contributions.used", participation.answered)
      .add("contributions.late", participation.late)
      .add("contributions.failed", participation.failed)
      .add("contributions.retried", participation.retried)
      .add("contributions.restored", event_driven.restored())
      .add("contributions.lost_work_seconds", event_driven.lost_work())
      .add("staleness", staleness)
      .add("busy_seconds", event_driven.busy_seconds())
      .add("idle_seconds", event_driven.idle_seconds())
      .add("bytes.received", event_driven.bytes_received())
      .add("bytes.lost", event_driven.bytes_lost())
      .add("outages.hosts", event_driven.outages())
      .add("outages.links", event_driven.log.link_outages)
      .add("learning.learned", event_driven.learned)
      .add("learning.found", event_driven.found)
      .add("events", event_driven.log.events)
      .add("facts", members_of(participation.facts, [](double value) { return value; }))
      .add("per_worker.host", hosts)
      .add("per_worker.used", of_workers(&Worker::used))
      .add("per_worker.late", of_workers(&Worker::late))
      .add("per_worker.failed", of_workers(&Worker::failed))
      .add("per_worker.busy_seconds", of_workers(&Worker::busy))
      .add("per_worker.down_seconds", of_workers(&Worker::down))
      .add("per_worker.bytes_sent", of_workers(&Worker::sent))
      .add("per_worker.bytes_received", of_workers(&Worker::received))
      .add("parts", parts)
      .add("parts_left_out", std::max<std::int64_t>(0, participation.answered + participation.late +
                                                           participation.failed - static_cast<std::int64_t>(written)))
      .add("host_outages", outages);
  return table;
}

DocumentTable object_of(const ShiftEvaluation& evaluation) {
  DocumentTable table{.object = true}, rows;
  for (const ShiftEvaluation::Row& row : evaluation.rows) {
    std::vector<std::string> below;
    for (std::size_t arm = 0; arm < row.accuracies.size(); ++arm)
      if (row.accuracies[arm] < row.accuracies.front()) below.push_back(evaluation.arms.at(arm));
    rows.add_row()
        .add("corruption", row.corruption)
        .add("severity", row.severity)
        .add("label_alpha", row.label_alpha > 0 ? DocumentValue(row.label_alpha) : DocumentValue())
        .add("batch", row.batch)
        .add("accuracies", row.accuracies)
        .add("best", evaluation.arms.at(ShiftEvaluation::best_arm(row)))
        .add("below_source", below);
  }
  table.add_row()
      .add("arms", evaluation.arms)
      .add("rows", rows)
      .add("quantiles", evaluation.quantiles)
      .add("quantile_bytes.inputs", evaluation.input_bytes)
      .add("quantile_bytes.norms", evaluation.norm_bytes)
      .add("samples.all", evaluation.samples)
      .add("samples.fewest", evaluation.fewest)
      .add("samples.most", evaluation.most);
  return table;
}

template <class Part>
DocumentValue object_or_omitted(const Part& part) {
  return part ? DocumentValue(object_of(*part)) : Omitted();
}

void add_run(TableRow row, const RunResult& run, const Result& result) {
  DocumentTable statistics;
  for (const LayerStatistic& one : run.statistics)
    statistics.add_row().add("layer", one.layer).add("statistic", one.statistic);
  const spec::CompressSpec& compress = run.spec.compress;
  add_figures(row, run, result);
  row.add("parameters", object_of(run.spec.parameters))
      .add("compress.method", compress.method)
      .add("compress.memory", compress.memory)
      .add("compress.scope", to_string(compress.scope))
      .add("compress.parameters", object_of(compress.parameters))
      .add("steps_per_epoch", run.steps_per_epoch)
      .add("first_steps_end_seconds", run.first_steps)
      .add("band", band_of(run))
      .add("over_seeds", seeds_of(run))
      .add("bounds", bounds_of(run))
      .add("causes", causes_table(run))
      .add("effective_rank", ranks_of(run, result.layer_names))
      .add("curve", curve_of(run))
      .add("leak", leak_of(run))
      .add("leak_not_measured", run.leak ? or_omitted(run.leak->why_not) : Omitted())
      .add("network", object_of(run.network))
      .add("links_used", run.network.links_used)
      .add("link_use", link_use_of(run))
      .add("memory.device_bytes", run.device_memory > 0 ? DocumentValue(run.device_memory) : DocumentValue())
      .add("memory.parameters", run.memory.parameters)
      .add("memory.master_copies", run.memory.master_copies)
      .add("memory.optimizer", run.memory.optimizer)
      .add("memory.gradients", run.memory.gradients)
      .add("memory.activations", run.memory.activations)
      .add("memory.scores", run.memory.scores)
      .add("memory.algorithm", run.memory.algorithm)
      .add("event_run", object_or_omitted(run.event_driven))
      .add("evaluation", object_or_omitted(run.evaluation))
      .add("at_scale", object_or_omitted(run.at_scale))
      .add("notes", run.notes)
      .add("statistics", run.statistics.empty() ? Omitted() : DocumentValue(statistics));
}

}  // namespace

Document document_of(const Result& result) {
  const Answer answer = answer_to(result);
  Document document{result, answer.statements};
  document.page = PageKind::run;
  document.add("scenario.seed", result.seed);
  document.add("scenario.hash", fmt::format("{:016x}", result.hash));
  document.add("scenario.target_accuracy", result.target_accuracy);
  document.add("learned_on", result.learned_on);
  document.add("timed_as", result.timed_as);
  if (result.timing_only) document.add("timing_only", true);
  document.add("answer", object_of(answer, result));
  if (result.scale) document.add("at_scale", object_of(*result.scale));
  if (!result.currency.empty()) document.add("currency", result.currency);
  if (result.lines_per_month) document.add("lines_per_month", *result.lines_per_month);
  DocumentTable runs;
  for (const RunResult& run : result.runs) add_run(runs.add_row(), run, result);
  document.add("runs", std::move(runs));
  document.charts = charts_of(result);
  add_page_tables(document, result);
  document.add("wall_clock.learning_seconds", result.learning_wall_seconds);
  document.add("wall_clock.timing_seconds", result.timing_wall_seconds);
  for (const Shown shown : {Shown::brief, Shown::verbose}) {
    document.print(tables_of(result, shown == Shown::verbose), shown);
    document.rests_on(background(result, shown == Shown::verbose), shown);
  }
  return document;
}

}  // namespace dadsim::report
