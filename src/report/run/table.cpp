#include "report/run/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "report/run/causes.hpp"
#include "report/run/figures.hpp"
#include "report/run/over_seeds.hpp"
#include "report/text/amounts.hpp"
#include "report/text/text_blocks.hpp"
#include "report/words/phrases.hpp"
#include "report/words/statement_rows.hpp"
#include "support/human.hpp"

namespace dadsim::report {
namespace {

std::string counted(std::int64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", human_count(count), count == 1 ? one : many);
}

std::string paragraph_or_nothing(const std::string& sentence) { return sentence.empty() ? "" : paragraph(sentence); }

/// Joins the non-empty parts with commas.
std::string listed(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string participation_in_words(const step::Participation& participation) {
  const double share = participation.asked > 0 ? participation.share_used() : 0;
  std::vector<std::string> parts{
      fmt::format("{} ({}) entered the model", human_count(participation.answered), share_in_words(share))};
  if (participation.late > 0) parts.push_back(human_count(participation.late) + " came too late");
  if (participation.failed > 0) parts.push_back(human_count(participation.failed) + " never came");
  const std::int64_t open = participation.asked - participation.answered - participation.late - participation.failed;
  if (open > 0) parts.push_back(human_count(open) + " were under way at the end");
  return fmt::format("{}; clients began to take part {}: {}",
                     counted(participation.updates, "round or update", "rounds or updates"),
                     counted(participation.asked, "time", "times"), listed(parts));
}

std::string staleness_in_words(const step::Participation& participation) {
  return fmt::format("staleness (updates of the model between read and write): mean {:.3g}, at most {}",
                     participation.mean_staleness(), participation.staleness.rbegin()->first);
}

std::string failures_in_words(const EventDrivenResult& event_driven) {
  std::vector<std::string> parts;
  if (event_driven.outages() > 0)
    parts.push_back(counted(event_driven.outages(), "outage of a host", "outages of hosts"));
  if (event_driven.log.link_outages > 0)
    parts.push_back(counted(event_driven.log.link_outages, "outage of a link", "outages of links"));
  if (event_driven.participation.retried > 0)
    parts.push_back(counted(event_driven.participation.retried, "message sent again", "messages sent again"));
  if (event_driven.restored() > 0) {
    parts.push_back(fmt::format("{} from a checkpoint, which repeated {} of computing",
                                counted(event_driven.restored(), "restart", "restarts"),
                                human_seconds(event_driven.lost_work())));
  }
  return listed(parts);
}

/// Seconds in which the framework packs, unpacks or sums: those of all workers together, and those of the server.
struct Framework {
  double clients = 0, server = 0;
};
Framework framework_of(const EventDrivenResult& event_driven) {
  Framework framework;
  for (std::size_t node = 0; node < event_driven.log.nodes.size(); ++node)
    (node < event_driven.workers ? framework.clients : framework.server) += event_driven.log.nodes[node].framework;
  return framework;
}

Statement rounds_of(const RunResult& run, const std::string& currency) {
  const EventDrivenResult& event_driven = run.event_driven.value();
  const auto rounds = static_cast<double>(run.steps);
  Statement statement{"rounds", {run.spec.label}};
  const bool asynchronous = !event_driven.participation.staleness.empty();
  statement.with("asynchronous", asynchronous).with("per_hour", event_driven.rounds_per_hour());
  statement.with("seconds", run.step_seconds);
  if (const auto factors = run.factors())
    statement.with("seconds_low", run.step_seconds * factors->low)
        .with("seconds_high", run.step_seconds * factors->high);
  const Framework framework = framework_of(event_driven);
  const double of_clients = framework.clients / rounds / event_driven.taking_part();
  double of_server = framework.server;
  for (std::size_t node = event_driven.workers; node < event_driven.log.nodes.size(); ++node)
    of_server += event_driven.log.nodes[node].busy;
  of_server =
      asynchronous ? 0 : std::min(of_server / rounds, run.exposed_seconds);  // asynchronous servers overlap clients
  statement.with("computing", run.compute_seconds);
  if (of_clients > 0) statement.with("framework", of_clients);
  if (of_server > 0) statement.with("server", of_server);
  statement.with("waiting", std::max(0.0, run.exposed_seconds - of_clients - of_server));
  statement.with("bytes_up", run.bytes_up_per_worker).with("bytes_down", run.bytes_down_per_worker);
  statement.with("taking_part", event_driven.taking_part()).with("workers", static_cast<double>(event_driven.workers));
  if (!run.costs || currency.empty()) return statement;
  const Costs& costs = run.costs->per_step;
  statement.with("currency", currency);
  if (costs.money) statement.with("money", *costs.money);
  if (costs.joules) statement.with("joules", *costs.joules);
  if (costs.carbon) statement.with("grams_co2e", *costs.carbon);
  return statement;
}

std::string ratio_text(double ratio) { return fmt::format("{:.3g}", ratio); }

/// Returns "1.31 (1.20 … 1.43)".
template <class Text>
std::string with_interval(const estimate::Estimate& estimate, Text&& text) {
  std::string interval = text(estimate.value);
  if (estimate.low == estimate.value && estimate.high == estimate.value) return interval;  // exact by definition
  if (estimate.low && estimate.high) interval += fmt::format(" ({} … {})", text(*estimate.low), text(*estimate.high));
  return interval;
}

using ScaleRow = std::vector<std::string>;

ScaleRow scale_row(const RunResult& run, const ScaleSetting& setting) {
  const ScaleResult& scale = run.at_scale.value();
  return {run.spec.label, setting.known ? human_count(static_cast<std::int64_t>(setting.known->steps)) : "–",
          scale.relative.ratio ? with_interval(*scale.relative.ratio, ratio_text) : "–",
          human_seconds(run.step_seconds),
          scale.time ? with_interval(scale.time_band ? *scale.time_band : *scale.time,
                                     [](double seconds) { return human_seconds(seconds); })
                     : "–"};
}

bool is_banded(const RunResult& run) { return run.at_scale && run.at_scale->time_band; }

std::vector<ScaleRow> scale_rows(const Result& result, bool verbose) {
  std::vector<ScaleRow> rows{
      {"run", "known steps", "× relative steps (95 %)", "× time per step",
       std::ranges::any_of(result.runs, is_banded) ? "= time to accuracy" : "= time to accuracy (95 %)"}};
  const std::string none = result.scale->known ? "" : "–";  // leaves out columns of dashes
  for (const RunResult& run : result.runs) {
    if (!run.at_scale) continue;
    rows.push_back(scale_row(run, *result.scale));
    if (!verbose) continue;
    for (const ScaleAtTarget& at : run.at_scale->further) {
      const std::string ratio = at.relative.ratio ? with_interval(*at.relative.ratio, ratio_text) : "–";
      rows.push_back({fmt::format("  to {:.6g} %", at.target * 100), none, ratio, "", none});
    }
  }
  return rows;
}

std::string known_sentence(const ScaleSetting& setting) {
  if (setting.known) {
    const estimate::KnownSteps& known = *setting.known;
    std::string text = fmt::format("Known steps: {}", in_words(known.source));
    if (known.fewest < known.most)
      text += fmt::format("; results from {:.0f} to {:.0f} steps", known.fewest, known.most);
    return text + ".";
  }
  return fmt::format(
      "The steps that {} needs are not known here: {}. Only the time per step and the relative steps are given; set "
      "steps=\"…\" of <timed-as> to a number of your own.",
      setting.workload, in_words(setting.why_not.value()));
}

/// Returns a sentence on the scale study that relative steps come from.
std::string ladder_sentence(const RunResult& run) {
  const FromLadder& ladder = *run.at_scale->ladder;
  std::string text = fmt::format(
      "{}: relative steps from scale study '{}', {} rungs, {}, {:.1f} decades beyond its largest network; the interval "
      "holds for a new network of its family",
      run.spec.label, ladder.study, ladder.rungs, ladder.trend ? "with a trend" : "without a trend",
      ladder.decades_beyond);
  if (ladder.measured)
    text += fmt::format("; the learning network has {}", with_interval(*ladder.measured, ratio_text));
  return text + ".";
}

std::string relative_sentence(const Result& result) {
  const ScaleSetting& setting = *result.scale;
  if (result.timing_only)
    return "Relative steps: 1 by definition for gradient sharing and for runs equal to it up to rounding.";
  std::string text =
      fmt::format("Relative steps: steps to {:.6g} % on {}", result.target_accuracy * 100, result.learned_on);
  if (setting.seeds > 1) {
    text += fmt::format(
        ", mean over {} seeds, divided by those of gradient sharing with the same seeds; the interval is Fieller's",
        setting.seeds);
  } else {
    text += ", divided by those of gradient sharing; one seed has no interval (seeds=\"5\" of <training> adds one)";
  }
  text += ". The target step is interpolated between two evaluations; the interval covers both.";
  return text;
}

/// Returns a sentence on the range of relative steps over several targets.
std::string spread_sentence(const RunResult& run) {
  const auto range = run.at_scale->range_over_targets();
  if (!range || !(range->first < range->second)) return {};
  return fmt::format("{}: relative steps from {} to {} over {} targets.", run.spec.label, ratio_text(range->first),
                     ratio_text(range->second), 1 + run.at_scale->further.size());
}

std::string charged_sentence(const estimate::Charges& charges) {
  std::string text;
  if (charges.evaluation_every > 0) {
    text += fmt::format("{} per evaluation, every {} steps and at the end", human_seconds(charges.evaluation_seconds),
                        charges.evaluation_every);
  }
  if (charges.start_up_seconds > 0) {
    text += fmt::format("{}{} of start-up", text.empty() ? "" : ", ", human_seconds(charges.start_up_seconds));
  }
  if (text.empty()) return "Evaluation and start-up are not charged.";
  return "Charged in addition to steps × time of a step: " + text + ".";
}

/// Returns all known costs; "not known" if there are none.
std::string all_costs_in_words(const Costs& costs, const std::string& currency) {
  return report::costs_in_words(costs.money, costs.joules, costs.carbon, currency);
}

/// Returns a sentence on the costs of a run: at scale and to the target, as far as known, and of all its steps; of one
/// step, if nothing is learned and the run is not event-driven. Empty if the costs or their currency are not known.
std::string cost_sentence(const RunResult& run, const Result& result) {
  if (!run.costs || result.currency.empty()) return {};
  std::string text = fmt::format("{} costs ", run.spec.label);
  if (run.costs->at_scale)
    text += fmt::format("{} at scale; ", all_costs_in_words(*run.costs->at_scale, result.currency));
  if (run.costs->to_target)
    text += fmt::format("{} to the target; ", all_costs_in_words(*run.costs->to_target, result.currency));
  if (result.timing_only && !run.spec.event_driven)
    return text + fmt::format("{} a step.", all_costs_in_words(run.costs->per_step, result.currency));
  return text + fmt::format("{} for all learned steps.", all_costs_in_words(run.costs->whole, result.currency));
}

template <class Text>
std::string or_dash(const std::optional<double>& value, Text&& text) {
  return value ? text(*value) : "–";
}

using ThroughputRow = std::vector<std::string>;

ThroughputRow row_of(const RunResult& run) {
  const Throughput none{0, {}, {}, {}};
  const Throughput& done = run.throughput ? *run.throughput : none;
  return {run.spec.label,
          seconds_with_band(run.step_seconds, run.factors()),
          human_seconds(run.compute_seconds),
          human_seconds(run.exposed_seconds),
          run.throughput ? rate_in_words(done.samples) : "–",
          or_dash(done.tokens, rate_in_words),
          or_dash(done.model_flops_utilisation, human_percent),
          or_dash(done.scaling_efficiency, human_percent),
          run.event_driven && run.steps > 0 ? rate_in_words(run.event_driven->rounds_per_hour()) : "–",
          run.event_driven ? fmt::format("{:.3g} of {}", run.event_driven->taking_part(), run.workers) : "–",
          human_bytes(run.bytes_up_per_worker),
          human_bytes(run.bytes_down_per_worker)};
}

std::vector<ThroughputRow> throughput_rows(const Result& result) {
  const bool rounds =
      std::ranges::any_of(result.runs, [](const RunResult& run) { return run.event_driven.has_value(); });
  std::vector<ThroughputRow> rows{{"run", rounds ? "a step or round" : "a step", "compute", "exposed", "samples/s",
                                   "tokens/s", "MFU", "scaling", "rounds/h", "take part", "up", "down"}};
  for (const RunResult& run : result.runs) rows.push_back(row_of(run));
  return rows;
}

/// Returns a table of steps and throughput, a row per run, for results without learning.
std::string throughput_grid(const Result& result) { return grid(throughput_rows(result)); }

/// Returns a sentence on a run whose sites have their own weights: the final accuracy of the weights' average, the
/// worst and the best final accuracy of a site, and the mean squared distance from the average, at the end and at its
/// greatest. Empty for other runs.
std::string sites_sentence(const RunResult& run) {
  if (run.curve.empty() || !run.curve.back().sites) return "";
  const step::SitesEvaluation& last = *run.curve.back().sites;
  const auto distance = [](const CurvePoint& point) { return point.sites ? point.sites->consensus_distance : 0.0; };
  const auto furthest = std::ranges::max_element(run.curve, {}, distance);
  const auto [worst, best] = std::ranges::minmax(last.accuracies);
  return fmt::format(
      "{}: the average of the sites' weights has an accuracy of {}, single sites have {} to {}; their mean squared "
      "distance from the average is {:.3g}, and was {:.3g} at most (after {} steps).",
      run.spec.label, human_percent(last.average_accuracy), human_percent(worst), human_percent(best),
      last.consensus_distance, distance(*furthest), furthest->step);
}

/// Returns the target as in the scenario: "95 %", "97.25 %".
std::string target_text(double accuracy) { return fmt::format("{:.6g} %", accuracy * 100); }

// Values of `narrower`, tried in this order while the table of runs is too wide. The first leaves out a column, the
// second also another one; the third restores both, but leaves out the bands of times.
constexpr int kWithoutCompute = 1;
constexpr int kWithoutBest = 2;
constexpr int kWithoutBands = 3;

std::string centred(const std::string& text, std::size_t width) {
  return left_aligned(std::string((width - std::min(width, display_width(text))) / 2, ' ') + text, width);
}

/// A column of the table of runs; adjacent columns of one group share a heading.
struct RunColumn {
  std::string group, title;
  std::string (*cell)(const RunResult&);
};

/// Returns ε of differential privacy; "none" for a run without noise.
std::string epsilon_cell(const RunResult& run) {
  const double epsilon = epsilon_spent(run);
  return std::isfinite(epsilon) ? fmt::format("{:.3g}", epsilon) : "none";
}

/// Returns the columns. `narrower`: one of the constants above, or 0 for all columns and bands.
std::vector<RunColumn> run_columns(const Result& result, int narrower) {
  const bool event_driven =
      std::ranges::any_of(result.runs, [](const RunResult& run) { return run.event_driven.has_value(); });
  const std::string accuracy = "accuracy, %";
  const std::string target = "to " + target_text(result.target_accuracy);
  const std::string step = event_driven ? "time per step or update" : "time per step";
  const std::string bytes = event_driven ? "per worker and step or update" : "per worker and step";
  std::vector<RunColumn> columns{{"", "run", [](const RunResult& run) { return run.spec.label; }},
                                 {accuracy, "final", [](const RunResult& run) {
                                    return run.divergence ? "diverged"
                                                          : accuracy_cell(run.final_accuracies, run.final_accuracy);
                                  }}};
  const bool bands = narrower < kWithoutBands;
  if (!bands || narrower < kWithoutBest)
    columns.push_back(
        {accuracy, "best", [](const RunResult& run) { return accuracy_cell(run.best_accuracies, run.best_accuracy); }});
  columns.push_back({target, "steps", steps_cell});
  columns.push_back({target, "time", bands ? time_cell_with_band : time_cell});
  columns.push_back({step, "all", [](const RunResult& run) { return human_seconds(run.step_seconds); }});
  if (!bands || narrower < kWithoutCompute)
    columns.push_back({step, "compute", [](const RunResult& run) { return human_seconds(run.compute_seconds); }});
  columns.push_back({step, "exposed", [](const RunResult& run) { return human_seconds(run.exposed_seconds); }});
  columns.push_back({bytes, "up", [](const RunResult& run) { return human_bytes(run.bytes_up_per_worker); }});
  columns.push_back({bytes, "down", [](const RunResult& run) { return human_bytes(run.bytes_down_per_worker); }});
  columns.push_back({"sent", "in all", [](const RunResult& run) { return human_bytes(sent_in_all(run)); }});
  const bool spends =
      std::ranges::any_of(result.runs, [](const RunResult& run) { return std::isfinite(epsilon_spent(run)); });
  if (spends) columns.push_back({"spent", "ε", epsilon_cell});
  return columns;
}

/// Returns the table of runs. Includes bands of times to the target if the lines stay narrow enough.
std::string run_grid(const Result& result, int narrower = 0) {
  const std::vector<RunColumn> columns = run_columns(result, narrower);
  std::vector<std::vector<std::string>> rows(1);
  for (const RunColumn& column : columns) rows[0].push_back(column.title);
  for (const RunResult& run : result.runs) {
    rows.emplace_back();
    for (const RunColumn& column : columns) rows.back().push_back(column.cell(run));
  }
  std::vector<std::size_t> widths(columns.size());
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  widths[0] = std::min(widths[0], kWidestLabel);
  // Column ranges of the groups, from the first column to the one after the last.
  std::vector<std::pair<std::size_t, std::size_t>> groups;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i == 0 || columns[i].group != columns[i - 1].group) groups.emplace_back(i, i);
    groups.back().second = i + 1;
  }
  const auto span_width = [&](std::size_t begin, std::size_t end) {
    std::size_t width = 2 * (end - begin - 1);
    for (std::size_t i = begin; i < end; ++i) width += widths[i];
    return width;
  };
  std::vector<TableColumn> in_table(columns.size());
  for (const auto& [begin, end] : groups) {
    const std::size_t width = span_width(begin, end);
    const std::size_t needed = display_width(columns[begin].group);
    if (width < needed) widths[end - 1] += needed - width;
    for (std::size_t i = begin; i < end; ++i) in_table[i] = {widths[i], begin};
  }
  if (narrower < kWithoutBands && span_width(0, columns.size()) > kTableWidth) return run_grid(result, narrower + 1);
  std::string text;
  for (const std::vector<std::size_t>& part : parts_of_table(in_table)) {
    if (!text.empty()) text += '\n';
    std::string head;
    std::size_t total = 0;
    for (const auto& [begin, end] : groups) {
      if (std::ranges::find(part, begin) == part.end()) continue;
      if (begin > 0) head += "  ";
      head += centred(columns[begin].group, span_width(begin, end));
      total += span_width(begin, end) + (begin > 0 ? 2 : 0);
    }
    head.erase(head.find_last_not_of(' ') + 1);
    text += head + '\n';
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (const std::size_t i : part)
        text += i == 0 ? left_aligned(rows[r][0], widths[0]) : "  " + right_aligned(rows[r][i], widths[i]);
      text += '\n';
      for (std::size_t i = 0; r == 0 && i < total; ++i) text += "─";
      if (r == 0) text += '\n';
    }
  }
  return text;
}

/// Returns a sentence on the bounds of a run, by kind; for an event-driven run, on the use of time.
std::string bound_sentence(const RunResult& run) {
  if (run.event_driven) return time_sentence(run);
  if (run.bounds.empty()) return run.spec.label + ": no step was taken, so nothing limited the run.";
  return fmt::format("{}: {}.", run.spec.label, causes_in_words(run));
}

/// Returns one line on a run: its bounds, or the use of time if it is event-driven, and its costs if there are any.
/// Names resources of fewer bounds if the line is wider than the terminal.
std::string bound_line(const RunResult& run, const Result& result) {
  std::string costs;
  if (run.costs && !result.currency.empty()) {
    const RunCosts& all = *run.costs;
    costs = "; " + (all.at_scale    ? all_costs_in_words(*all.at_scale, result.currency) + " at scale"
                    : all.to_target ? all_costs_in_words(*all.to_target, result.currency) + " to the target"
                    : result.timing_only && !run.event_driven
                        ? all_costs_in_words(all.per_step, result.currency) + " a step"
                        : all_costs_in_words(all.whole, result.currency) + " for all steps");
  }
  const auto line = [&](const std::string& bound) { return fmt::format("{}: {}{}.", run.spec.label, bound, costs); };
  if (run.event_driven) return line(time_in_words(run));
  if (run.bounds.empty()) return line("no step was taken");
  std::string shortest;
  for (const CausesNamed named : {CausesNamed::each, CausesNamed::first, CausesNamed::none}) {
    shortest = line(causes_in_short(run, named));
    if (display_width(shortest) <= table_width()) break;
  }
  return shortest;
}

/// Returns a sentence on the effective rank of each layer's gradient at a site, in the first and in the last epoch
/// (introspection, in the dAD paper).
std::string rank_sentence(const RunResult& run, const std::vector<std::string>& layer_names) {
  if (run.ranks.empty()) return {};
  const step::EpochRanks& first = run.ranks.front();
  const step::EpochRanks& last = run.ranks.back();
  if (first.site.size() != layer_names.size() || last.site.size() != layer_names.size()) {
    throw std::logic_error(fmt::format("ranks of {} layers for {} names", first.site.size(), layer_names.size()));
  }
  const bool one = run.ranks.size() == 1;
  std::string text =
      one ? fmt::format("{}: effective rank per site in epoch {}:", run.spec.label, first.epoch)
          : fmt::format("{}: effective rank per site, epoch {} → {}:", run.spec.label, first.epoch, last.epoch);
  for (std::size_t i = 0; i < layer_names.size(); ++i) {
    text += fmt::format("{} {} {:.1f}", i == 0 ? "" : ",", layer_names[i], first.site[i]);
    if (!one) text += fmt::format(" → {:.1f}", last.site[i]);
  }
  return text + ".";
}

/// Returns a sentence on the memory of a worker's device.
std::string memory_sentence(const RunResult& run) {
  if (!(run.memory.total() > 0)) return {};
  std::string text = fmt::format("{}: {} of memory on a worker", run.spec.label, human_bytes(run.memory.total()));
  if (run.device_memory > 0) text += fmt::format(" of {}", human_bytes(run.device_memory));
  bool first = true;
  for (const auto& [what, bytes] : run.memory.breakdown()) {
    text += fmt::format("{} {} {}", first ? ":" : ",", what, human_bytes(bytes));
    first = false;
  }
  return text + ".";
}

/// Returns a sentence on the number of steps that were not simulated, and the possible error.
std::string sampling_sentence(const std::string& label, const step::NetworkUse::Sampling& sampling) {
  return fmt::format(
      "{}: of {:.0f} different steps, {:.0f} were simulated and the others interpolated by their bytes. The error is "
      "{:.2g} % for a single step (root mean square) and {:.2g} % for the mean step (standard error).",
      label, sampling.steps, sampling.simulated, 100 * sampling.step_error, 100 * sampling.mean_error);
}

/// Returns sentences on the model of each kind of link, on the algorithms of collectives, and on what was not simulated
/// exactly. Repeats no sentence.
std::string network_sentences(const Result& result) {
  std::vector<std::string> known;
  std::string text;
  const auto say = [&](const std::string& sentence) {
    if (std::find(known.begin(), known.end(), sentence) != known.end()) return;
    known.push_back(sentence);
    text += paragraph(sentence);
  };
  for (const RunResult& run : result.runs) {
    for (const step::NetworkUse::LinkClass& link : run.network.links) {
      say(fmt::format("Links as {}: {}.", link.transport, link.model));
    }
  }
  for (const RunResult& run : result.runs) {
    std::string how;
    for (const step::NetworkUse::Collective& one : run.network.collectives) {
      how += fmt::format("{}{} as {}", how.empty() ? "" : ", ", one.kind, one.algorithm);
    }
    if (!how.empty()) say(fmt::format("Carried out: {} ({} fidelity).", how, run.network.fidelity));
    for (const step::NetworkUse::Collective& one : run.network.collectives) {
      if (one.quicker) say(fmt::format("{} of {}: {}.", one.kind, human_bytes(one.most_bytes), in_words(*one.quicker)));
    }
    if (const std::vector<Statement>& notes = run.network.fidelity_notes; !notes.empty())
      say(fmt::format("{}: {}.", run.spec.label, fmt::join(in_words(notes), "; ")));
    if (run.network.sampling) say(sampling_sentence(run.spec.label, *run.network.sampling));
  }
  return text;
}

/// Returns the tables as text, that of the timed workload first. The network that learned has its table beside another
/// workload's only if `verbose` or if a run is event-driven.
std::string grids(const Result& result, bool verbose) {
  const bool event_driven =
      std::ranges::any_of(result.runs, [](const RunResult& run) { return run.event_driven.has_value(); });
  const bool has_scale =
      result.scale && std::ranges::any_of(result.runs, [](const RunResult& run) { return run.at_scale.has_value(); });
  const bool other = has_scale && !result.scale->workload.empty();
  std::string text;
  if (result.timing_only) {
    text += throughput_grid(result);
    return has_scale ? text + '\n' + scale_table(result, verbose) : text;
  }
  if (other) {
    text += scale_table(result, verbose);
    if (!verbose && !event_driven) return text;
    text += '\n';
    text += paragraph(fmt::format("On the learning network ({}), with steps as long as those of {}:", result.learned_on,
                                  result.scale->workload));
  }
  text += run_grid(result);
  return has_scale && !other ? text + '\n' + scale_table(result, verbose) : text;
}

}  // namespace

Statement event_time_of(const RunResult& run) {
  const EventDrivenResult& event_driven = run.event_driven.value();
  const auto workers = static_cast<double>(event_driven.workers);
  const double taking_part = event_driven.taking_part();
  const double all = taking_part * event_driven.log.seconds;
  Statement statement{"event-time", {run.spec.label}};
  if (!(all > 0)) return statement;
  const double down = event_driven.down_seconds();
  const bool some = taking_part < workers;  // workers that are down were then often not asked
  statement.with("computing", event_driven.busy_seconds() / all);
  statement.with("waiting", (all - event_driven.busy_seconds() - (some ? 0 : down)) / all);
  if (some) statement.with("taking_part", taking_part).with("workers", workers);
  if (down > 0) statement.with("down", down / (workers * event_driven.log.seconds));
  const Framework framework = framework_of(event_driven);
  if (!(framework.clients + framework.server > 0)) return statement;
  statement.with("framework", framework.clients / all);
  if (event_driven.log.nodes.size() > event_driven.workers)
    statement.with("framework_at_server", framework.server / event_driven.log.seconds);
  return statement;
}

void say_rounds(const Result& result, std::vector<Statement>& statements) {
  constexpr std::size_t kMostSaid = 4;  // largest number of runs described in sentences; the table has all
  for (const RunResult& run : result.runs) {
    if (run.event_driven && run.steps > 0 && statements.size() < kMostSaid)
      statements.push_back(rounds_of(run, result.currency));
  }
}

std::string time_in_words(const RunResult& run) {
  const EventDrivenResult& event_driven = run.event_driven.value();
  const Statement time = event_time_of(run);
  if (!time.has("computing")) return "no time passed";
  std::string text = fmt::format("{} compute {} of the time and wait {}", template_of(">those-at-work").words(time),
                                 share_in_words(time.number("computing")), share_in_words(time.number("waiting")));
  if (time.has("down")) text += fmt::format(", {} down", share_in_words(time.number("down")));
  if (event_driven.participation.asked > 0) {
    text += fmt::format("; {} of {} contributions used", share_in_words(event_driven.participation.share_used()),
                        human_count(event_driven.participation.asked));
  }
  if (!event_driven.participation.staleness.empty())
    text += fmt::format("; mean staleness {:.3g}", event_driven.participation.mean_staleness());
  return text;
}

std::string time_sentence(const RunResult& run) { return in_words(event_time_of(run)); }

std::string event_driven_paragraphs(const RunResult& run) {
  const EventDrivenResult& event_driven = run.event_driven.value();
  const std::string& label = run.spec.label;
  std::string text = paragraph(fmt::format("{}: {}.", label, participation_in_words(event_driven.participation)));
  if (!event_driven.participation.staleness.empty())
    text += paragraph(fmt::format("{}: {}.", label, staleness_in_words(event_driven.participation)));
  if (event_driven.wasted_seconds() > 0 || event_driven.wasted_bytes() > 0) {
    text +=
        paragraph(fmt::format("{}: {} of computing and {} sent were wasted, since they entered no model.", label,
                              human_seconds(event_driven.wasted_seconds()), human_bytes(event_driven.wasted_bytes())));
  }
  if (const std::string failures = failures_in_words(event_driven); !failures.empty()) {
    text += paragraph(fmt::format("{}: survived {}.", label, failures));
  }
  if (!event_driven.participation.facts.empty()) {
    std::vector<std::string> facts;
    for (const auto& [name, value] : event_driven.participation.facts)
      facts.push_back(fmt::format("{} {:.6g}", name, value));
    text += paragraph(fmt::format("{}: {}.", label, listed(facts)));
  }
  if (event_driven.learned + event_driven.found > 0) {
    text += paragraph(fmt::format("{}: learned in {}; {} reused from another run.", label,
                                  counted(event_driven.learned, "operation", "operations"),
                                  human_count(event_driven.found)));
  }
  return text;
}

std::optional<std::pair<double, double>> ScaleResult::range_over_targets() const {
  std::vector<double> ratios;
  if (relative.ratio) ratios.push_back(relative.ratio->value);
  for (const ScaleAtTarget& at : further) {
    if (at.relative.ratio) ratios.push_back(at.relative.ratio->value);
  }
  if (ratios.size() < 2) return std::nullopt;
  const auto [least, greatest] = std::ranges::minmax(ratios);
  return std::pair(least, greatest);
}

namespace {

std::string scale_heading(const ScaleSetting& setting) {
  if (setting.workload.empty()) return "Steps to accuracy against gradient sharing";
  std::string heading = fmt::format("Time to accuracy as {}, {} samples per step of all workers", setting.workload,
                                    human_count(setting.batch));
  if (setting.known && !setting.known->target.empty()) heading += fmt::format(", to {}", setting.known->target);
  return heading;
}

/// Returns sentences on the factors of the time at scale, and on unknown factors.
std::vector<std::string> scale_sentences(const Result& result) {
  const ScaleSetting& setting = *result.scale;
  std::vector<std::string> said;
  for (const RunResult& run : result.runs) {
    if (run.at_scale && !run.at_scale->relative.ratio)
      said.push_back(
          fmt::format("{}: no relative steps: {}.", run.spec.label, in_words(run.at_scale->relative.why_not.value())));
  }
  if (std::ranges::any_of(result.runs, is_banded)) {
    said.emplace_back(
        "The interval of the time combines, as a root of summed squares, the interval of the relative steps (95 %, "
        "with several seeds) and "
        "the band of a step (90 %).");
  }
  for (const RunResult& run : result.runs) {
    if (!run.at_scale) continue;
    for (const ScaleAtTarget& at : run.at_scale->further) {
      if (!at.relative.ratio && run.at_scale->relative.ratio)
        said.push_back(fmt::format("{}: no relative steps to {:.6g} %: {}.", run.spec.label, at.target * 100,
                                   in_words(at.relative.why_not.value())));
    }
    if (std::string spread = spread_sentence(run); !spread.empty()) said.push_back(std::move(spread));
  }
  for (const RunResult& run : result.runs) {
    if (run.spec.event_driven)
      said.push_back(
          fmt::format("{}: no relative steps, since its learning depends on the simulated cluster; the first table has "
                      "the run's own time.",
                      run.spec.label));
  }
  if (!setting.workload.empty()) said.push_back(known_sentence(setting));
  for (const RunResult& run : result.runs) {
    if (run.at_scale && run.at_scale->ladder) said.push_back(ladder_sentence(run));
  }
  said.push_back(relative_sentence(result));
  if (setting.known) said.push_back(charged_sentence(setting.charges));
  return said;
}

/// Returns rows of texts as a table; the first row contains the titles.
DocumentTable as_table(const std::vector<std::vector<std::string>>& rows) {
  DocumentTable table;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    TableRow row = table.add_row();
    for (std::size_t k = 0; k < rows[i].size(); ++k) row.say(rows[0][k], rows[i][k]);
  }
  return table;
}

/// Returns the costs of each run to the target, in total and at scale, as far as known.
DocumentTable costs_of(const Result& result) {
  DocumentTable table;
  const auto cell = [&](const std::optional<Costs>& costs) {
    return costs ? all_costs_in_words(*costs, result.currency) : "–";
  };
  for (const RunResult& run : result.runs) {
    if (!run.costs || result.currency.empty()) continue;
    table.add_row().say("run", run.spec.label, "to " + target_text(result.target_accuracy), cell(run.costs->to_target),
                        "whole run", cell(run.costs->whole), "at scale", cell(run.costs->at_scale));
  }
  return table;
}

/// Returns the steps to the target by seed, a row per run with a result at scale.
DocumentTable steps_by_seed(const Result& result) {
  DocumentTable table;
  for (const RunResult& run : result.runs) {
    if (!run.at_scale) continue;
    std::vector<std::string> steps;
    for (const auto& one : run.at_scale->steps_to_target) steps.push_back(one ? human_count(one->at) : "not reached");
    table.add_row().say("run", run.spec.label, "steps by seed", listed(steps));
  }
  return table;
}

/// Returns the cause with the largest share of the critical path; none for event-driven runs.
std::string bound_cell(const RunResult& run) {
  const std::vector<Cause> causes = causes_of(run);
  return causes.empty() ? "–" : fmt::format("{} {}", causes.front().kind, human_percent(causes.front().share));
}

/// Returns the table of runs with all columns, with mean ± deviation for several seeds.
DocumentTable runs_of(const Result& result) {
  std::vector<std::vector<std::string>> rows(1);
  if (result.timing_only) {
    rows = throughput_rows(result);
  } else {
    std::vector<RunColumn> columns = run_columns(result, 0);
    columns.push_back({"", "bound by most", bound_cell});
    for (const RunColumn& column : columns)
      rows[0].push_back(column.group.empty() ? column.title : column.group + ": " + column.title);
    for (const RunResult& run : result.runs) {
      rows.emplace_back();
      for (const RunColumn& column : columns) rows.back().push_back(column.cell(run));
    }
  }
  return as_table(rows);
}

}  // namespace

std::string scale_table(const Result& result, bool verbose) {
  if (!result.scale) return {};
  std::string text = paragraph(scale_heading(*result.scale)) + grid(scale_rows(result, verbose));
  if (!verbose) return text;
  for (const std::string& sentence : scale_sentences(result)) text += paragraph(sentence);
  return text;
}

void add_page_tables(Document& document, const Result& result) {
  const auto add = [&](std::string heading, DocumentTable table, const std::vector<std::string>& sentences = {}) {
    if (table.rows.empty()) return;
    document.parts.push_back({.shown = Shown::page, .heading = std::move(heading), .what = std::move(table)});
    for (const std::string& sentence : sentences) document.print(sentence, Shown::page);
  };
  std::vector<std::string> bands;
  for (const RunResult& run : result.runs)
    if (run.step_band) bands.push_back(band_sentence(run));
  const bool seeds =
      std::ranges::any_of(result.runs, [](const RunResult& run) { return run.final_accuracies.size() > 1; });
  add(fmt::format("Every run{}; times are simulated, a step is the mean over the run",
                  seeds ? ", mean ± standard deviation over the seeds" : ""),
      runs_of(result), bands);
  if (result.scale && std::ranges::any_of(result.runs, [](const RunResult& run) { return run.at_scale.has_value(); })) {
    add(scale_heading(*result.scale), as_table(scale_rows(result, true)), scale_sentences(result));
    add("Steps to the target here", steps_by_seed(result));
  }
  add("Costs; unknown costs are left out, never counted as zero", costs_of(result));
  for (const RunResult& run : result.runs)
    if (run.evaluation)
      add(shift_heading(run.spec.label), as_table(shift_rows(*run.evaluation)),
          shift_sentences(run.spec.label, *run.evaluation));
}

std::string band_sentence(const RunResult& run) {
  if (!run.step_band) return {};
  std::string text = fmt::format("{}: nine of ten measured steps are expected at {}", run.spec.label,
                                 seconds_with_band(run.step_seconds, run.factors()));
  if (run.target_reached && run.target_seconds > 0)
    text += fmt::format(", to the target {}", seconds_with_band(run.target_seconds, run.factors()));
  return text + fmt::format(": {}.", fmt::join(in_words(estimate::basis_of(run.step_band->parts)), "; "));
}

std::string tables_of(const Result& result, bool verbose) {
  std::string text = grids(result, verbose) + '\n';
  const auto say = [&](const auto& sentence) {
    for (const RunResult& run : result.runs) text += paragraph_or_nothing(sentence(run));
  };
  if (!verbose) {
    say([&](const RunResult& run) { return bound_line(run, result); });
  } else {
    say(bound_sentence);
    say(band_sentence);
    for (const RunResult& run : result.runs) {
      if (run.event_driven) text += event_driven_paragraphs(run);
    }
    say(sites_sentence);
    say([&](const RunResult& run) { return rank_sentence(run, result.layer_names); });
    say(memory_sentence);
    say([&](const RunResult& run) { return cost_sentence(run, result); });
  }
  for (const RunResult& run : result.runs) {
    if (run.evaluation) text += '\n' + shift_table(run.spec.label, *run.evaluation);
  }
  if (!verbose) return text;
  std::string notes;
  for (const RunResult& run : result.runs) {
    for (const Statement& note : run.notes)
      notes += paragraph(fmt::format("Note on {}: {}", run.spec.label, in_words(note)));
  }
  return notes.empty() ? text : text + '\n' + notes;
}

namespace {

/// Returns "framework: nvflare 2.7.1; nine measurements of ten within 0.67 and 1.3 times a step", over all runs of the
/// framework.
std::string framework_named(const Result& result) {
  const auto framework = std::ranges::find(result.assumptions, "framework", &Statement::kind);
  if (framework == result.assumptions.end()) return {};
  std::string named = fmt::format(" (framework: {}", framework->subject());
  estimate::Band widest;
  for (const RunResult& run : result.runs) {
    const std::optional<estimate::Band> factors = run.factors();
    if (!factors || std::ranges::find(run.step_band->parts, "network.framework", &estimate::TimePart::category) ==
                        run.step_band->parts.end())
      continue;
    widest = {std::min(widest.low, factors->low), std::max(widest.high, factors->high)};
  }
  if (widest.low < widest.high)
    named +=
        fmt::format("; nine of ten measurements lie between {:.2g} and {:.2g} times a step", widest.low, widest.high);
  return named + ")";
}

/// Returns one line that names what --verbose adds.
std::string left_out(const Result& result) {
  const auto some = [&](auto&& has) { return std::ranges::any_of(result.runs, has); };
  std::size_t notes = 0;
  for (const RunResult& run : result.runs) notes += run.notes.size();
  std::vector<std::string> more;
  if (!result.assumptions.empty()) more.emplace_back("them");
  if (some([](const RunResult& run) { return run.step_band.has_value(); })) more.emplace_back("bands");
  if (some([](const RunResult& run) { return run.memory.total() > 0; })) more.emplace_back("memory");
  if (some([](const RunResult& run) { return !run.ranks.empty(); })) more.emplace_back("effective ranks");
  if (some([](const RunResult& run) { return run.event_driven.has_value(); })) more.emplace_back("who took part");
  if (notes > 0) more.push_back(fmt::format("{} note{}", notes, notes == 1 ? "" : "s"));
  if (more.empty()) return {};
  const std::string last = std::move(more.back());
  more.pop_back();
  return paragraph(fmt::format("Based on {} assumption{}{} and a model of the network; --verbose shows {}{}{}.",
                               result.assumptions.size(), result.assumptions.size() == 1 ? "" : "s",
                               framework_named(result), fmt::join(more, ", "), more.empty() ? "" : " and ", last));
}

}  // namespace

std::string background(const Result& result, bool verbose) {
  if (!verbose) return left_out(result);
  std::string text;
  for (const Statement& assumption : result.assumptions) text += paragraph("Assumed: " + in_words(assumption));
  text += paragraph("Network model: " + result.network_model);
  text += network_sentences(result);
  return text + paragraph(setting_of(result, !result.stand_in) + ".");
}

std::string setting_of(const Result& result, bool learned) {
  if (!learned) return fmt::format("Timed as {}; nothing was learned", result.timed_as);
  return result.timed_as_other ? fmt::format("Learned on {}, timed as {}", result.learned_on, result.timed_as)
                               : fmt::format("Learned on and timed as {}", result.learned_on);
}

}  // namespace dadsim::report
