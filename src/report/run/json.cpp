#include "report/run/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <vector>

#include "report/document/document_json.hpp"
#include "report/run/answer.hpp"
#include "report/run/causes.hpp"
#include "report/run/contender.hpp"
#include "report/run/event_driven_json.hpp"
#include "report/run/leak_json.hpp"
#include "report/run/over_seeds.hpp"
#include "report/run/result_document.hpp"
#include "report/run/shift_json.hpp"
#include "report/words/report_head_json.hpp"
#include "report/words/statement_json.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::report {
namespace {

/// Parameters are carried as checked text: what reads as a finite number is written as one.
Json parameter(const std::string& text) {
  if (const auto integer = parse_whole<std::int64_t>(text)) return *integer;
  if (const auto real = parse_whole<double>(text); real && std::isfinite(*real)) return *real;
  return text;
}

Json parameters(const spec::ParameterValues& values) {
  Json json = Json::object();
  for (const auto& [name, text] : values) json[name] = parameter(text);
  return json;
}

Json effective_rank(const step::EpochRanks& epoch, const std::vector<std::string>& layer_names) {
  if (epoch.site.size() != layer_names.size() || epoch.merged.size() != layer_names.size()) {
    throw std::logic_error(fmt::format("ranks of {} layers for {} names", epoch.site.size(), layer_names.size()));
  }
  Json layers = Json::array();
  for (std::size_t i = 0; i < layer_names.size(); ++i) {
    layers.push_back({{"layer", layer_names[i]}, {"site", number(epoch.site[i])}, {"merged", number(epoch.merged[i])}});
  }
  return {{"epoch", epoch.epoch}, {"layers", std::move(layers)}};
}

Json to_json_object(const std::optional<estimate::Estimate>& estimate) {
  if (!estimate) return {{"value", nullptr}, {"low", nullptr}, {"high", nullptr}};
  return {{"value", number(estimate->value)}, {"low", number(estimate->low)}, {"high", number(estimate->high)}};
}

Json band_of(const RunResult& run) {
  const std::optional<estimate::Band> known = run.factors();
  if (!known) return nullptr;
  const estimate::Band factors = *known;
  const auto of_target = [&](double factor) {
    return run.target_reached ? number(run.target_seconds * factor) : Json(nullptr);
  };
  Json parts = Json::array();
  for (const estimate::TimePart& part : run.step_band->parts)
    parts.push_back({{"category", part.category}, {"seconds", number(part.seconds)}, {"cause", part.cause}});
  return {{"step_seconds", {{"low", number(run.step_band->low)}, {"high", number(run.step_band->high)}}},
          {"target_seconds", {{"low", of_target(factors.low)}, {"high", of_target(factors.high)}}},
          {"basis", in_json(estimate::basis_of(run.step_band->parts))},
          {"parts", std::move(parts)}};
}

/// By seed: the evaluation that reached the target, and the one before it.
void add_steps(const estimate::StepsToTarget& steps, Json& json) {
  Json at = Json::array();
  Json after = Json::array();
  for (const auto& one : steps) {
    at.push_back(one ? Json(one->at) : Json(nullptr));
    after.push_back(one ? Json(one->after) : Json(nullptr));
  }
  json["steps_to_target"] = std::move(at);
  json["steps_before_target"] = std::move(after);
}

Json to_json_object(const ScaleResult& scale) {
  Json json;
  add_steps(scale.steps_to_target, json);
  json["why_not"] = in_json(scale.relative.why_not);
  Json further = Json::array();
  for (const ScaleAtTarget& at : scale.further) {
    Json target{{"target", number(at.target)}};
    add_steps(at.steps_to_target, target);
    target["relative_steps"] = to_json_object(at.relative.ratio);
    target["why_not"] = in_json(at.relative.why_not);
    further.push_back(std::move(target));
  }
  json["further_targets"] = std::move(further);
  json["ladder"] = nullptr;
  if (scale.ladder) {
    json["ladder"] = {{"study", scale.ladder->study},
                      {"rungs", scale.ladder->rungs},
                      {"trend", scale.ladder->trend},
                      {"decades_beyond", number(scale.ladder->decades_beyond)},
                      {"measured", to_json_object(scale.ladder->measured)}};
  }
  const auto range = scale.range_over_targets();
  json["relative_steps_over_targets"] = {{"least", range ? number(range->first) : Json(nullptr)},
                                         {"greatest", range ? number(range->second) : Json(nullptr)}};
  return json;
}

Json to_json_object(const ScaleSetting& setting) {
  Json json;
  const auto known = [&](double estimate::KnownSteps::*field) {
    return setting.known ? number((*setting.known).*field) : Json(nullptr);
  };
  json["workload"] = setting.workload;
  json["batch"] = setting.batch;
  json["seeds"] = setting.seeds;
  json["target"] = setting.known ? setting.known->target : "";
  json["known_steps"] = {{"value", known(&estimate::KnownSteps::steps)},
                         {"fewest", known(&estimate::KnownSteps::fewest)},
                         {"most", known(&estimate::KnownSteps::most)}};
  json["source"] = setting.known ? in_json(setting.known->source) : Json(nullptr);
  json["why_not"] = in_json(setting.why_not);
  json["charged"] = {{"evaluation_every", setting.charges.evaluation_every},
                     {"evaluation_seconds", number(setting.charges.evaluation_seconds)},
                     {"start_up_seconds", number(setting.charges.start_up_seconds)}};
  return json;
}

Json to_json_object(const step::NetworkUse& use) {
  Json json;
  json["fidelity"] = use.fidelity;
  if (!use.fidelity_notes.empty()) json["fidelity_notes"] = in_json(use.fidelity_notes);
  json["messages"] = number(use.messages);
  if (use.sampling) {
    json["sampling"] = {{"steps", number(use.sampling->steps)},
                        {"simulated", number(use.sampling->simulated)},
                        {"step_error", number(use.sampling->step_error)}};
  }
  Json& collectives = json["collectives"] = Json::array();
  for (const step::NetworkUse::Collective& one : use.collectives) {
    collectives.push_back({{"kind", one.kind},
                           {"algorithm", one.algorithm},
                           {"least_bytes", number(one.least_bytes)},
                           {"most_bytes", number(one.most_bytes)},
                           {"count", number(one.count)}});
    if (one.quicker) collectives.back()["quicker"] = in_json(*one.quicker);
  }
  Json& links = json["links"] = Json::array();
  for (const step::NetworkUse::LinkClass& one : use.links) {
    links.push_back({{"class", one.name},
                     {"transport", one.transport},
                     {"bytes_per_second", number(one.bandwidth)},
                     {"efficiency", number(one.efficiency)},
                     {"directions", number(one.links)}});
  }
  return json;
}

Json to_json_array(const std::vector<step::LinkUse>& links) {
  Json json = Json::array();
  for (const step::LinkUse& one : links) {
    json.push_back({{"link", one.link},
                    {"class", one.link_class},
                    {"bytes_per_second", number(one.bandwidth)},
                    {"latency_seconds", number(one.latency)},
                    {"bytes_per_step", number(one.bytes_per_step)},
                    {"busy_share", number(one.busy_share)}});
  }
  return json;
}

Json compress(const spec::CompressSpec& spec) {
  return {{"method", spec.method},
          {"memory", spec.memory},
          {"scope", to_string(spec.scope)},
          {"parameters", parameters(spec.parameters)}};
}

Json causes_in_json(const RunResult& run) {
  Json json = Json::array();
  for (const Cause& cause : causes_of(run)) {
    Json on = Json::array();
    for (const Cause::Part& part : cause.parts) {
      on.push_back({{"pattern", name_of(part)},
                    {"resources", part.resources},
                    {"seconds", number(part.seconds)},
                    {"share", number(part.share)}});
    }
    json.push_back({{"kind", cause.kind},
                    {"seconds", number(cause.seconds)},
                    {"share", number(cause.share)},
                    {"on", std::move(on)}});
  }
  return json;
}

/// What the table of runs says where several seeds were learned; null with one.
Json seeds_in_json(const RunResult& run) {
  if (run.final_accuracies.size() < 2) return nullptr;
  const auto of = [](const std::vector<double>& by_seed) -> Json {
    if (by_seed.empty()) return nullptr;
    const OverSeeds over = over_seeds(by_seed);
    return {{"mean", number(over.mean)}, {"deviation", number(over.deviation)}};
  };
  const std::optional<estimate::Estimate> time =
      time_of(contender_of(run, Metric::time_to_target), Metric::time_to_target);
  return {{"seeds", run.final_accuracies.size()},
          {"missed", std::ranges::count(run.arrivals, false, &std::optional<estimate::Arrival>::has_value)},
          {"final_accuracy", of(run.final_accuracies)},
          {"best_accuracy", of(run.best_accuracies)},
          {"target_step", of(target_steps(run))},
          {"target_seconds",
           time ? Json{{"mean", number(time->value)}, {"low", number(time->low)}, {"high", number(time->high)}}
                : Json(nullptr)}};
}

Json to_json_object(const RunResult& run, const Result& result) {
  DocumentTable own{.object = true};
  TableRow figures = own.add_row();
  add_figures(figures, run, result);
  Json json = in_json(own);
  json["parameters"] = parameters(run.spec.parameters);
  json["compress"] = compress(run.spec.compress);
  json["steps_per_epoch"] = run.steps_per_epoch;
  json["first_steps_end_seconds"] = run.first_steps;
  json["band"] = band_of(run);
  json["over_seeds"] = seeds_in_json(run);

  Json& bounds = json["bounds"] = Json::array();
  for (const step::Bound& bound : run.bounds) {
    bounds.push_back({{"resource", name_of(bound)},
                      {"kind", bound.kind},
                      {"seconds", number(bound.seconds)},
                      {"share", number(bound.share)}});
  }
  json["causes"] = causes_in_json(run);
  Json& ranks = json["effective_rank"] = Json::array();
  for (const step::EpochRanks& epoch : run.ranks) ranks.push_back(effective_rank(epoch, result.layer_names));

  Json& curve = json["curve"] = Json::array();
  for (const CurvePoint& point : run.curve) {
    curve.push_back({{"step", point.step},
                     {"epochs", number(run.epochs_at(point))},
                     {"seconds", number(point.seconds)},
                     {"bytes", number(point.bytes)},
                     {"loss", number(point.loss)},
                     {"accuracy", number(point.accuracy)},
                     {"auc", number(point.auc)}});
    if (point.sites) {
      Json& sites = curve.back()["sites"] = {{"average_loss", number(point.sites->average_loss)},
                                             {"average_accuracy", number(point.sites->average_accuracy)},
                                             {"consensus_distance", number(point.sites->consensus_distance)}};
      sites["accuracies"] = Json::array();
      for (const double accuracy : point.sites->accuracies) sites["accuracies"].push_back(number(accuracy));
    }
  }
  json["leak"] = leak_in_json(run);
  if (run.leak && run.leak->why_not) json["leak_not_measured"] = in_json(*run.leak->why_not);
  json["network"] = to_json_object(run.network);
  json["links_used"] = number(run.network.links_used);
  json["link_use"] = to_json_array(run.network.link_use);
  Json& memory = json["memory"];
  memory["device_bytes"] = run.device_memory > 0 ? number(run.device_memory) : Json(nullptr);
  memory["parameters"] = number(run.memory.parameters);
  memory["master_copies"] = number(run.memory.master_copies);
  memory["optimizer"] = number(run.memory.optimizer);
  memory["gradients"] = number(run.memory.gradients);
  memory["activations"] = number(run.memory.activations);
  memory["scores"] = number(run.memory.scores);
  memory["algorithm"] = number(run.memory.algorithm);
  if (run.event_driven) json["event_run"] = to_json_object(*run.event_driven);
  if (run.evaluation) json["evaluation"] = to_json_object(*run.evaluation);
  if (run.at_scale) json["at_scale"] = to_json_object(*run.at_scale);
  json["notes"] = in_json(run.notes);
  if (!run.statistics.empty()) {
    Json& statistics = json["statistics"] = Json::array();
    for (const LayerStatistic& one : run.statistics) {
      statistics.push_back({{"layer", one.layer}, {"statistic", one.statistic}});
    }
  }
  return json;
}

}  // namespace

std::string to_json(const Result& result) {
  Json json = head_in_json(result);
  json["scenario"]["seed"] = result.seed;
  json["scenario"]["hash"] = fmt::format("{:016x}", result.hash);
  json["scenario"]["target_accuracy"] = number(result.target_accuracy);
  json["learned_on"] = result.learned_on;
  json["timed_as"] = result.timed_as;
  json["assumptions"] = in_json(result.assumptions);
  if (result.timing_only) json["timing_only"] = true;
  json["answer"] = in_json(object_of(answer_to(result), result));
  if (result.scale) json["at_scale"] = to_json_object(*result.scale);
  if (!result.currency.empty()) json["currency"] = result.currency;
  if (result.lines_per_month) json["lines_per_month"] = number(result.lines_per_month);
  Json& runs = json["runs"] = Json::array();
  for (const RunResult& run : result.runs) runs.push_back(to_json_object(run, result));
  json["wall_clock"] = {{"learning_seconds", number(result.learning_wall_seconds)},
                        {"timing_seconds", number(result.timing_wall_seconds)}};
  return indented(json);
}

}  // namespace dadsim::report
