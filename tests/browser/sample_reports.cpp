// Writes reports of hand-made results that fill every section of the page:
//   write_sample_reports FOLDER
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>

#include "report/explanation_sample.hpp"
#include "report/html/page.hpp"
#include "report/html/report.hpp"
#include "report/sample.hpp"
#include "report/sweep_sample.hpp"

namespace dadsim {
namespace {

const char* const kHostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>";

constexpr const char* kPicture =
    "<?xml version=\"1.0\"?>\n"
    "<svg width=\"400pt\" height=\"60pt\" viewBox=\"0 0 400 60\" xmlns=\"http://www.w3.org/2000/svg\">"
    "<text x=\"20\" y=\"30\">hub and two sites</text></svg>\n";

report::RunResult with_parts(report::RunResult run, double scale) {
  run.step_seconds *= scale;
  run.exposed_seconds *= scale;
  run.memory = {4e6, 2e6, 8e6, 4e6, 3e7, 1e6};
  run.device_memory = 2.4e10;
  run.network.fidelity = "flow";
  run.network.fidelity_notes = {Statement{"flow-by-budget"}.with("messages", 3e6)};
  run.network.sampling = {750, 32, 0.0234, 0.00312};
  run.network.collectives = {{"all-reduce", "ring", 1000, 2000, 3}};
  run.network.links = {{"ib-ndr", "rdma", "a stated share", 5e10, 0.92, 64}};
  return run;
}

/// Returns a result at scale with ranks, memory and links, whose names contain markup.
report::Result everything() {
  report::Result result = report::sample_scale_result();
  result.scenario_name = kHostile;
  result.learned_on = kHostile;
  result.assumptions.push_back(report::Statement{"roofline", {"gpu"}}.with("rates", kHostile));
  result.layer_names = {kHostile, "dense2"};
  report::RunResult first = with_parts(result.runs[0], 1);
  first.spec.label = kHostile;
  first.spec.parameters = {{"cap", "8"}, {"way", kHostile}};
  first.notes = {report::Statement{"remark"}.with("text", kHostile)};
  first.bounds[0].resource = kHostile;
  result.currency = "EUR";
  first.costs.emplace();
  first.costs->whole = {12.5, 3.6e6, 1400.0};

  report::RunResult plain = with_parts(report::sample_run("gradient-sharing", "gradient-sharing"), 2);
  plain.ranks.clear();
  plain.target_seconds *= 3;
  plain.at_scale = report::ScaleResult{{report::reached_at(40), report::reached_at(40)},
                                       {estimate::Estimate{1, 1, 1}},
                                       estimate::Estimate{1100, 1100, 1100}};

  report::RunResult alone = with_parts(report::sample_run("no-sharing", "no-sharing", 2), 0.001);
  alone.ranks.clear();
  const auto missed =
      Statement{"target-not-reached"}.with("of_gradient_sharing", false).with("seeds_missed", 1.0).with("seeds", 2.0);
  alone.at_scale = report::ScaleResult{{std::nullopt, report::reached_at(50)}, {std::nullopt, missed}, {}};
  report::RunResult event_driven = with_parts(report::sample_event_driven_run(), 1);
  event_driven.event_driven->hosts[0] = kHostile;
  result.runs = {first, plain, alone, event_driven};
  return result;
}

/// Returns a result whose target was met before training: it has no steps, and means over steps are NaN.
report::Result nothing() {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  report::Result result = report::sample_result();
  report::RunResult& run = result.runs[0];
  run = report::RunResult();
  run.spec = report::sample_spec("gradient-sharing", "gradient-sharing");
  run.workers = 2;
  run.target_reached = true;
  run.final_accuracy = run.best_accuracy = 0.96;
  run.final_auc = kNone;
  run.step_seconds = run.compute_seconds = run.exposed_seconds = run.first_step_seconds = kNone;
  run.bytes_up_per_worker = run.bytes_down_per_worker = kNone;
  run.curve = {{0, 0, kNone, 0.96, kNone, 0}};
  return result;
}

/// Returns a sweep of three axes and three seeds with costs, a failed point, a point at which no run reaches the
/// target, and names with markup.
report::SweepReport sweep_of_three() {
  report::SampleSweep sample(3);
  sample.rates(5).texts("collective", {"ring", kHostile}).numbers("batch", 4).grid().costs("EUR");
  sample.fail(0, kHostile).nobody(39).open(8).open(9);
  report::SweepReport report = sample.report();
  report.scenario_name = kHostile;
  report.runs[2].label = kHostile;
  report.learned_on = {kHostile};
  report.timed_as = {"one", "another"};
  report.assumptions = {Statement{"remark"}.with("text", std::string(kHostile))};
  report.scenario = "<scenario><description>Of three axes.</description></scenario>";
  return report;
}

/// Returns data about many sites for a report: a table of their spread, and a table of sites that opens on request.
report::About about_many_sites() {
  report::About about{.description = kHostile, .scenario = kHostile, .set = {kHostile}, .classes = {}};
  for (std::int64_t site = 0; site < 40; ++site) {
    about.classes.sites.push_back(site == 0 ? kHostile : "site-" + std::to_string(site));
    about.classes.samples.push_back({site, 40 - site, 0});
  }
  return about;
}

report::About about_two_sites() {
  report::About about;
  about.classes = {false, {"a", "b"}, {{300, 0, 1}, {10, 20, 30}}};
  return about;
}

/// Returns an explanation of two runs, with a part that a speed-up does not shorten, and a change that lengthens it.
report::Explanation explanation() {
  report::Explanation explanation = report::sample_explanation();
  explanation.result.scenario_name = kHostile;
  explanation.result.runs.push_back(report::sample_run("dad", kHostile));
  explanation.result.runs.push_back(report::sample_event_driven_run());
  for (report::WhatIf& what_if : explanation.what_ifs) {
    what_if.effects.push_back(what_if.effects[0]);
    what_if.effects.push_back({9, 25});
  }
  return explanation;
}

/// Returns a sweep whose points form no grid.
report::SweepReport drawn_sweep() { return report::SampleSweep().rates(6).numbers("batch", 6).drawn(6).report(); }

/// Returns a sweep of one axis whose values are texts.
report::SweepReport sweep_of_one() {
  return report::SampleSweep().texts("collective", {"ring", "tree", "flat"}).grid().report();
}

report::SweepReport large_sweep() {
  return report::SampleSweep().rates(10).numbers("a", 10).numbers("b", 10).grid().report();
}

void write(const std::string& path, const std::string& html) {
  std::ofstream file(path, std::ios::binary);
  file << html;
  file.close();
  if (!file) {
    std::cerr << path << " could not be written\n";
    std::exit(1);
  }
}

}  // namespace
}  // namespace dadsim

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_sample_reports FOLDER\n";
    return 2;
  }
  const std::string folder = argv[1];
  dadsim::write(folder + "/everything.html",
                dadsim::report::to_html(dadsim::everything(), dadsim::kPicture, {}, dadsim::about_many_sites()));
  dadsim::write(folder + "/nothing.html",
                dadsim::report::to_html(dadsim::nothing(), "", {}, dadsim::about_two_sites()));
  dadsim::write(folder + "/explain.html",
                dadsim::report::to_html(document_of(dadsim::explanation()), dadsim::about_many_sites()));
  dadsim::write(folder + "/sweep-three.html", dadsim::report::to_html(document_of(dadsim::sweep_of_three())));
  dadsim::write(folder + "/sweep-drawn.html", dadsim::report::to_html(document_of(dadsim::drawn_sweep())));
  dadsim::write(folder + "/sweep-one.html", dadsim::report::to_html(document_of(dadsim::sweep_of_one())));
  dadsim::write(folder + "/sweep-large.html", dadsim::report::to_html(document_of(dadsim::large_sweep())));
  return 0;
}
