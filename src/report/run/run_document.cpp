#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
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

/// Returns an unknown estimate as an object of nulls.
DocumentTable object_of(const std::optional<estimate::Estimate>& estimate) {
  const double none = std::nan("");
  return report::object_of(estimate.value_or(estimate::Estimate{none, {}, {}}));
}

DocumentTable ranks_of(const RunResult& run, const std::vector<std::string>& layer_names) {
  DocumentTable ranks;
  for (const step::EpochRanks& epoch : run.ranks) {
    if (epoch.site.size() != layer_names.size() || epoch.merged.size() != layer_names.size()) {
      throw std::logic_error(fmt::format("ranks of {} layers for {} names", epoch.site.size(), layer_names.size()));
    }
    DocumentTable layers;
    for (std::size_t i = 0; i < layer_names.size(); ++i)
      layers.add_row().add("layer", layer_names[i], "site", epoch.site[i], "merged", epoch.merged[i]);
    ranks.add_row().add("epoch", epoch.epoch, "layers", layers);
  }
  return ranks;
}

DocumentValue band_of(const RunResult& run) {
  const std::optional<estimate::Band> factors = run.factors();
  if (!factors) return {};
  const TargetOverSeeds over = target_over_seeds(run);
  const auto of_target = [&over](double factor) { return or_null(over.reached, over.seconds * factor); };
  using Part = estimate::TimePart;
  return object_with(
      "step_seconds", object_with("low", run.step_band->low, "high", run.step_band->high), "target_seconds",
      object_with("low", of_target(factors->low), "high", of_target(factors->high)), "basis",
      estimate::basis_of(run.step_band->parts), "parts",
      list_of(run.step_band->parts, "category", &Part::category, "seconds", &Part::seconds, "cause", &Part::cause));
}

/// Adds, for each seed, the step of the evaluation that reached the target, and that of the evaluation before it.
void add_steps(const estimate::StepsToTarget& steps, TableRow& row) {
  std::vector<std::optional<std::int64_t>> at, after;
  for (const auto& one : steps) {
    at.push_back(one ? std::optional(one->at) : std::nullopt);
    after.push_back(one ? std::optional(one->after) : std::nullopt);
  }
  row.add("steps_to_target", at, "steps_before_target", after);
}

DocumentTable object_of(const ScaleResult& scale) {
  DocumentTable table{.object = true}, further;
  DocumentValue ladder;
  for (const ScaleAtTarget& at : scale.further) {
    TableRow row = further.add_row();
    row.add("target", at.target);
    add_steps(at.steps_to_target, row);
    row.add("relative_steps", object_of(at.relative.ratio), "why_not", at.relative.why_not);
  }
  if (scale.ladder)
    ladder = object_with("study", scale.ladder->study, "rungs", scale.ladder->rungs, "trend", scale.ladder->trend,
                         "decades_beyond", scale.ladder->decades_beyond, "measured", object_of(scale.ladder->measured));
  const auto range = scale.range_over_targets();
  TableRow row = table.add_row();
  add_steps(scale.steps_to_target, row);
  row.add("why_not", scale.relative.why_not, "further_targets", further, "ladder", ladder,
          "relative_steps_over_targets.least", range ? DocumentValue(range->first) : DocumentValue(),
          "relative_steps_over_targets.greatest", range ? DocumentValue(range->second) : DocumentValue());
  return table;
}

DocumentTable object_of(const ScaleSetting& setting) {
  using Known = estimate::KnownSteps;
  const auto known = [&](auto Known::*field) {
    return setting.known ? DocumentValue((*setting.known).*field) : DocumentValue();
  };
  return object_with("workload", setting.workload, "batch", setting.batch, "seeds", setting.seeds, "target",
                     setting.known ? setting.known->target : "", "known_steps.value", known(&Known::steps),
                     "known_steps.fewest", known(&Known::fewest), "known_steps.most", known(&Known::most), "source",
                     known(&Known::source), "why_not", setting.why_not, "charged.evaluation_every",
                     setting.charges.evaluation_every, "charged.evaluation_seconds", setting.charges.evaluation_seconds,
                     "charged.start_up_seconds", setting.charges.start_up_seconds);
}

DocumentTable object_of(const step::NetworkUse& use) {
  using Collective = step::NetworkUse::Collective;
  using Link = step::NetworkUse::LinkClass;
  DocumentTable table{.object = true};
  TableRow row = table.add_row();
  row.add("fidelity", use.fidelity, "fidelity_notes",
          use.fidelity_notes.empty() ? Omitted() : DocumentValue(use.fidelity_notes), "messages", use.messages);
  if (use.sampling)
    row.add("sampling.steps", use.sampling->steps, "sampling.simulated", use.sampling->simulated, "sampling.step_error",
            use.sampling->step_error);
  row.add("collectives",
          list_of(use.collectives, "kind", &Collective::kind, "algorithm", &Collective::algorithm, "least_bytes",
                  &Collective::least_bytes, "most_bytes", &Collective::most_bytes, "count", &Collective::count,
                  "quicker", [](const Collective& one) { return or_omitted(one.quicker); }),
          "links",
          list_of(use.links, "class", &Link::name, "transport", &Link::transport, "bytes_per_second", &Link::bandwidth,
                  "efficiency", &Link::efficiency, "directions", &Link::links));
  return table;
}

DocumentTable link_use_of(const RunResult& run) {
  using Use = step::LinkUse;
  return list_of(run.network.link_use, "link", &Use::link, "class", &Use::link_class, "bytes_per_second",
                 &Use::bandwidth, "latency_seconds", &Use::latency, "bytes_per_step", &Use::bytes_per_step,
                 "busy_share", &Use::busy_share);
}

/// Returns means over several seeds, with deviations or intervals, as in the table of runs; null with one seed.
DocumentValue seeds_of(const RunResult& run) {
  if (run.final_accuracies.size() < 2) return {};
  const auto of = [](const std::vector<double>& by_seed) -> DocumentValue {
    if (by_seed.empty()) return {};
    const OverSeeds known = over_seeds(by_seed);
    return object_with("mean", known.mean, "deviation", known.deviation);
  };
  DocumentValue seconds;
  if (const auto time = time_of(contender_of(run, Metric::time_to_target), Metric::time_to_target))
    seconds = object_with("mean", time->value, "low", time->low, "high", time->high);
  return object_with("seeds", run.final_accuracies.size(), "missed",
                     std::ranges::count(run.arrivals, false, &std::optional<estimate::Arrival>::has_value),
                     "final_accuracy", of(run.final_accuracies), "best_accuracy", of(run.best_accuracies),
                     "target_step", of(target_steps(run)), "target_seconds", seconds);
}

DocumentTable curve_of(const RunResult& run) {
  using Point = CurvePoint;
  return list_of(
      run.curve, "step", &Point::step, "epochs", [&](const Point& point) { return run.epochs_at(point); }, "seconds",
      &Point::seconds, "bytes", &Point::bytes, "loss", &Point::loss, "accuracy", &Point::accuracy, "auc", &Point::auc,
      "sites",
      [](const Point& point) -> DocumentValue {
        if (!point.sites) return Omitted();
        const auto& sites = *point.sites;
        return object_with("average_loss", sites.average_loss, "average_accuracy", sites.average_accuracy,
                           "consensus_distance", sites.consensus_distance, "accuracies",
                           std::vector<double>(sites.accuracies.begin(), sites.accuracies.end()));
      });
}

void add_leak(TableRow& row, const step::LeakFigures& figures) {
  using Leak = step::LeakFigures;
  add_columns(row, figures, "rows_handed_over", &Leak::rows_handed_over, "samples_handed_over",
              &Leak::samples_handed_over, "span_in", &Leak::span_in, "span_out", &Leak::span_out, "span_excess",
              &Leak::span_excess, "best_sample_excess", &Leak::best_sample_excess, "accumulated_excess",
              &Leak::accumulated_excess, "labels", &Leak::labels);
}

/// Returns the leaks through a run's messages, a row per adversary.
DocumentTable leak_of(const RunResult& run) {
  DocumentTable leak;
  if (!run.leak) return leak;
  using Point = step::LeakPoint;
  const auto known = [](double value) { return std::isnan(value) ? DocumentValue("none") : DocumentValue(value); };
  for (const step::AdversaryLeak& one : run.leak->adversaries) {
    DocumentTable sites;
    for (std::size_t site = 0; site < one.sites.size(); ++site) {
      TableRow row = sites.add_row();
      row.add("site", run.leak->sampled.empty() ? site : static_cast<std::size_t>(run.leak->sampled[site]));
      add_leak(row, one.sites[site]);
    }
    TableRow row = leak.add_row();
    row.add("adversary", spec::to_string(one.adversary));
    add_leak(row, one.all);
    row.add("epsilon", known(one.epsilon), "delta", known(one.delta), "every", run.leak->every, "measured",
            run.leak->measured, "sites_looked_at", one.sites.size(), "not_measured", or_omitted(one.why_not), "curve",
            list_of(one.curve, "step", &Point::step, "seconds", &Point::seconds, "samples_handed_over",
                    &Point::samples_handed_over, "accumulated_excess", &Point::accumulated_excess),
            "sites", sites);
  }
  return leak;
}

DocumentTable object_of(const EventDrivenResult& event_driven) {
  const step::Participation& participation = event_driven.participation;
  using Part = step::Participation::Part;
  using Outage = step::EventLog::Outage;
  using Worker = EventDrivenResult::Worker;
  using Staleness = std::remove_cvref_t<decltype(*participation.staleness.begin())>;
  const std::size_t written = std::min(participation.parts.size(), kMostPartsWritten);
  // Writes a list per figure, with one entry per worker.
  const std::vector<EventDrivenResult::Worker> workers = event_driven.per_worker();
  std::vector<std::string> hosts = event_driven.hosts;
  hosts.resize(workers.size());
  const auto of_workers = [&](auto field) {
    std::vector<std::remove_cvref_t<decltype(workers.front().*field)>> values;
    for (const EventDrivenResult::Worker& worker : workers) values.push_back(worker.*field);
    return values;
  };
  return object_with(
      "stopped", event_driven.stopped, "samples", participation.samples, "contributions.asked", participation.asked,
      "contributions.used", participation.answered, "contributions.late", participation.late, "contributions.failed",
      participation.failed, "contributions.retried", participation.retried, "contributions.restored",
      event_driven.restored(), "contributions.lost_work_seconds", event_driven.lost_work(), "staleness",
      list_of(participation.staleness, "updates", &Staleness::first, "times", &Staleness::second), "busy_seconds",
      event_driven.busy_seconds(), "idle_seconds", event_driven.idle_seconds(), "bytes.received",
      event_driven.bytes_received(), "bytes.lost", event_driven.bytes_lost(), "outages.hosts", event_driven.outages(),
      "outages.links", event_driven.log.link_outages, "learning.learned", event_driven.learned, "learning.found",
      event_driven.found, "events", event_driven.log.events, "facts",
      members_of(participation.facts, [](double value) { return value; }), "per_worker.host", hosts, "per_worker.used",
      of_workers(&Worker::used), "per_worker.late", of_workers(&Worker::late), "per_worker.failed",
      of_workers(&Worker::failed), "per_worker.busy_seconds", of_workers(&Worker::busy), "per_worker.down_seconds",
      of_workers(&Worker::down), "per_worker.bytes_sent", of_workers(&Worker::sent), "per_worker.bytes_received",
      of_workers(&Worker::received), "parts",
      list_of(std::span(participation.parts).first(written), "round", &Part::round, "worker", &Part::client,
              "begin_seconds", &Part::asked, "end_seconds", &Part::ended, "end",
              [](const Part& part) { return to_string(part.end); }),
      "parts_left_out",
      std::max<std::int64_t>(
          0, participation.answered + participation.late + participation.failed - static_cast<std::int64_t>(written)),
      "host_outages",
      list_of(event_driven.log.outages, "node", &Outage::node, "begin_seconds", &Outage::begin, "end_seconds",
              &Outage::end));
}

DocumentTable object_of(const ShiftEvaluation& evaluation) {
  using Row = ShiftEvaluation::Row;
  const auto below = [&](const Row& row) {
    std::vector<std::string> arms;
    for (std::size_t arm = 0; arm < row.accuracies.size(); ++arm)
      if (row.accuracies[arm] < row.accuracies.front()) arms.push_back(evaluation.arms.at(arm));
    return arms;
  };
  return object_with(
      "arms", evaluation.arms, "rows",
      list_of(
          evaluation.rows, "corruption", &Row::corruption, "severity", &Row::severity, "label_alpha",
          [](const Row& row) { return or_null(row.label_alpha > 0, row.label_alpha); }, "batch", &Row::batch,
          "accuracies", &Row::accuracies, "best",
          [&](const Row& row) { return evaluation.arms.at(ShiftEvaluation::best_arm(row)); }, "below_source", below),
      "quantiles", evaluation.quantiles, "quantile_bytes.inputs", evaluation.input_bytes, "quantile_bytes.norms",
      evaluation.norm_bytes, "samples.all", evaluation.samples, "samples.fewest", evaluation.fewest, "samples.most",
      evaluation.most);
}

template <class Part>
DocumentValue object_or_omitted(const Part& part) {
  return part ? DocumentValue(object_of(*part)) : Omitted();
}

void add_run(TableRow row, const RunResult& run, const Result& result) {
  const spec::CompressSpec& compress = run.spec.compress;
  add_figures(row, run, result);
  row.add("parameters", object_of(run.spec.parameters), "compress.method", compress.method, "compress.memory",
          compress.memory, "compress.scope", to_string(compress.scope), "compress.parameters",
          object_of(compress.parameters), "steps_per_epoch", run.steps_per_epoch, "first_steps_end_seconds",
          run.first_steps, "band", band_of(run), "over_seeds", seeds_of(run), "bounds", bounds_of(run), "causes",
          causes_table(run), "effective_rank", ranks_of(run, result.layer_names), "curve", curve_of(run), "leak",
          leak_of(run), "leak_not_measured", run.leak ? or_omitted(run.leak->why_not) : Omitted(), "network",
          object_of(run.network), "links_used", run.network.links_used, "link_use", link_use_of(run),
          "memory.device_bytes", or_null(run.device_memory > 0, run.device_memory), "memory.parameters",
          run.memory.parameters, "memory.master_copies", run.memory.master_copies, "memory.optimizer",
          run.memory.optimizer, "memory.gradients", run.memory.gradients, "memory.activations", run.memory.activations,
          "memory.scores", run.memory.scores, "memory.algorithm", run.memory.algorithm, "event_run",
          object_or_omitted(run.event_driven), "evaluation", object_or_omitted(run.evaluation), "at_scale",
          object_or_omitted(run.at_scale), "notes", run.notes, "statistics",
          run.statistics.empty() ? Omitted()
                                 : DocumentValue(list_of(run.statistics, "layer", &LayerStatistic::layer, "statistic",
                                                         &LayerStatistic::statistic)));
}

}  // namespace

Document document_of(const Result& result) {
  const Answer answer = answer_to(result);
  Document document{result, answer.statements};
  document.page = PageKind::run;
  document.add("scenario.seed", result.seed, "scenario.hash", fmt::format("{:016x}", result.hash),
               "scenario.target_accuracy", result.target_accuracy, "learned_on", result.learned_on, "timed_as",
               result.timed_as);
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
  document.add("wall_clock.learning_seconds", result.learning_wall_seconds, "wall_clock.timing_seconds",
               result.timing_wall_seconds);
  for (const Shown shown : {Shown::brief, Shown::verbose}) {
    document.print(tables_of(result, shown == Shown::verbose), shown);
    document.rests_on(background(result, shown == Shown::verbose), shown);
  }
  return document;
}

}  // namespace dadsim::report
