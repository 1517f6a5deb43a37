#include <fmt/format.h>

#include <limits>

#include "estimate/student_t.hpp"
#include "report/run/figures.hpp"
#include "report/sweep/sweep_report.hpp"

namespace dadsim::report {
namespace {

std::vector<double> with_ends(const estimate::Estimate& estimate) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {estimate.value, estimate.low.value_or(kNone), estimate.high.value_or(kNone)};
}

DocumentTable axes_of(const SweepReport& report) {
  DocumentTable axes;
  for (const SweepReport::Axis& axis : report.axes) {
    DocumentTable values;
    for (const SweepReport::Value& value : axis.values)
      values.add_row().add("text", value.text).add("number", value.number);
    axes.add_row()
        .add("name", axis.name)
        .add("path", axis.path)
        .add("linked", axis.linked)
        .add("unit", axis.unit)
        .add("values", values);
  }
  return axes;
}

DocumentTable points_of(const SweepReport& report) {
  DocumentTable points;
  for (const SweepReport::Point& point : report.points) {
    std::vector<std::vector<double>> ranked, of_first;  // of_first: from the second in the ranks on
    std::vector<std::int64_t> beside;
    bool open = true;
    for (const SweepReport::Time& time : point.ranked) {
      std::vector<double>& one = ranked.emplace_back(1, static_cast<double>(time.run));
      if (time.seconds)
        for (const double end : with_ends(*time.seconds)) one.push_back(end);
      if (&time == point.ranked.data()) continue;
      if (time.seconds) of_first.push_back(with_ends(time.verdict.ratio));
      open = open && time.seconds && is_beside(time.verdict.standing);
      if (open) beside.push_back(static_cast<std::int64_t>(time.run));
    }
    points.add_row()
        .add("id", point.id)
        .add("at", std::vector<std::int64_t>(point.at.begin(), point.at.end()))
        .add("ranked", ranked)
        .add("beside", beside)
        .add("of_first", of_first);
  }
  return points;
}

/// All figures as rows instead of objects, for there may be thousands.
void add_figures(const SweepReport& report, Document& document) {
  std::vector<std::string> fields{"point", "seed", "run"};
  DocumentTable about;
  for (const std::size_t index : page_figures()) {
    const Figure& figure = figures()[index];
    fields.push_back(figure.name);
    about.add_row()
        .add("name", figure.name)
        .add("title", figure.title)
        .add("kind", to_string(figure.kind))
        .add("unit", figure.unit)
        .add("better", to_string(figure.better));
  }
  std::vector<std::vector<double>> rows;
  for (const SweepReport::Row& one : report.rows) {
    std::vector<double>& row = rows.emplace_back(std::vector<double>{
        static_cast<double>(one.point), static_cast<double>(one.seed), static_cast<double>(one.run)});
    row.insert(row.end(), one.values.begin(), one.values.end());
  }
  document.add("figures.fields", fields);
  document.add("figures.about", about);
  document.add("figures.rows", std::move(rows));
}

}  // namespace

Document document_of(const SweepReport& report) {
  Document document{report, answer_of(report)};
  document.page = PageKind::sweep;
  document.add("scenario.file", report.scenario_file);
  document.add("scenario.hash", fmt::format("{:016x}", report.hash));
  document.add("scenario.target_accuracy", report.target_accuracy);
  document.add("sweep.points", report.points_of_sweep);
  document.add("sweep.seeds", report.seeds);
  document.add("sweep.shard", report.shard);
  document.add("sweep.shards", report.shards);
  document.add("sweep.at_scale", report.at_scale);
  document.add("sweep.metric", to_string(report.metric));
  document.add("sweep.rate_unit", report.rate_unit);
  document.add("sweep.of", report.of);
  document.add("sweep.grid", report.grid());
  document.add("sweep.currency", report.currency);
  document.add("sweep.sampling_error", report.sampling_error);
  document.add("setting.learned_on", report.learned_on);
  document.add("setting.timed_as", report.timed_as);
  std::vector<double> student;  // by degrees of freedom from 1 on: half an interval ÷ the standard error
  for (std::int64_t freedom = 1; freedom < report.seeds; ++freedom) student.push_back(estimate::student_t(freedom));
  document.add("student_t", student);
  document.add("axes", axes_of(report));
  DocumentTable runs, failures;
  for (const SweepReport::Run& run : report.runs)
    runs.add_row().add("label", run.label).add("algorithm", run.algorithm).add("communicates", run.communicates);
  document.add("runs", runs);
  document.add("points", points_of(report));
  add_figures(report, document);
  for (const SweepReport::Failure& one : report.failures)
    failures.add_row()
        .add("point", one.point)
        .add("seed", one.seed)
        .add("words", one.message)
        .add("infeasible", one.infeasible);
  document.add("failures", failures);
  DocumentTable about{.object = true};
  about.add_row()
      .add("description", "")
      .add("scenario", report.scenario)
      .add("set", std::vector<std::string>())
      .add("build", report.build);
  document.parts.push_back({.name = "about", .what = about, .page_alone = true});
  return document;
}

}  // namespace dadsim::report
