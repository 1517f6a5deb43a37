#include "report/run/leak_json.hpp"

#include <array>
#include <cmath>

#include "report/words/statement_json.hpp"

namespace dadsim::report {
namespace {

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

void add_columns(const step::LeakFigures& figures, Json& json) {
  for (const LeakColumn& column : kLeakColumns) json[column.name] = number(figures.*column.figure);
}

Json known_or(double value, const char* otherwise) { return std::isnan(value) ? Json(otherwise) : number(value); }

}  // namespace

Json leak_in_json(const RunResult& run) {
  Json list = Json::array();
  if (!run.leak) return list;
  for (const step::AdversaryLeak& one : run.leak->adversaries) {
    Json json;
    json["adversary"] = spec::to_string(one.adversary);
    add_columns(one.all, json);
    json["epsilon"] = known_or(one.epsilon, "none");
    json["delta"] = known_or(one.delta, "none");
    json["every"] = run.leak->every;
    json["measured"] = run.leak->measured;
    json["sites_looked_at"] = one.sites.size();
    if (one.why_not) json["not_measured"] = in_json(*one.why_not);
    Json& curve = json["curve"] = Json::array();
    for (const step::LeakPoint& point : one.curve) {
      curve.push_back({{"step", point.step},
                       {"seconds", number(point.seconds)},
                       {"samples_handed_over", number(point.samples_handed_over)},
                       {"accumulated_excess", number(point.accumulated_excess)}});
    }
    Json& sites = json["sites"] = Json::array();
    for (std::size_t site = 0; site < one.sites.size(); ++site) {
      Json of_site{{"site", run.leak->sampled.empty() ? site : static_cast<std::size_t>(run.leak->sampled[site])}};
      add_columns(one.sites[site], of_site);
      sites.push_back(std::move(of_site));
    }
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace dadsim::report
