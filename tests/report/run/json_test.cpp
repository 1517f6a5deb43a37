#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "report/run/answer.hpp"
#include "report/run/figures.hpp"
#include "report/run/result_document.hpp"
#include "report/sample.hpp"

namespace dadsim::report {
namespace {

using Json = nlohmann::ordered_json;

/// Collects the path of every value in `json`: objects by name, lists as `[]`. Names inside `parameters` and `facts`
/// depend on the algorithm and are left out. A statement counts as one field, since docs/statements.md documents what
/// it contains.
void collect_fields(const Json& json, const std::string& path, std::set<std::string>& fields) {
  if (json.contains("kind") && json.contains("subjects") && json.contains("words")) {
    fields.insert(path);
  } else if (json.is_object() && !path.ends_with(".parameters") && !path.ends_with(".facts")) {
    for (const auto& [name, value] : json.items()) {
      std::string below = path;
      if (!below.empty()) below += '.';
      collect_fields(value, below += name, fields);
    }
  } else if (json.is_array() && !json.empty() && json[0].is_object()) {
    for (const Json& value : json) collect_fields(value, path + "[]", fields);
  } else {
    fields.insert(json.is_array() ? path + "[]" : path);
  }
}

step::NetworkUse sample_network() {
  step::NetworkUse use;
  use.fidelity = "flow";
  use.fidelity_notes = {Statement{"flow-by-budget"}.with("messages", 3e6)};
  use.collectives = {{"all-reduce", "ring", 1000, 2000, 3}};
  use.links = {{"ib-ndr", "rdma", "a stated share", 5e10, 0.92, 64}};
  use.messages = 12;
  use.sampling = {750, 32, 0.02, 0.003};
  use.links_used = 3;
  use.link_use = {{"node-0 nic_UP", "ib-ndr", 5e10, 1e-6, 2e6, 0.75}};
  return use;
}

ShiftEvaluation sample_evaluation() {
  ShiftEvaluation evaluation;
  evaluation.arms = {"source", "DMC on inputs"};
  evaluation.rows = {{"gain-offset", 3, 0, 128, {0.5, 0.75}}, {"none", 0, 0.1, 128, {0.75, 0.5}}};
  evaluation.quantiles = 64;
  evaluation.input_bytes = 4 * 64 * 32;
  evaluation.samples = 100;
  evaluation.fewest = 40;
  evaluation.most = 60;
  return evaluation;
}

TEST(Json, SaysWhichCorrectionIsBestAndWhichHurts) {
  Result result = sample_result();
  EXPECT_FALSE(Json::parse(to_json(document_of(result)))["runs"][0].contains("evaluation"));
  result.runs[0].evaluation = sample_evaluation();
  const Json rows = Json::parse(to_json(document_of(result)))["runs"][0]["evaluation"]["rows"];
  EXPECT_EQ(rows, Json::parse(R"([{"corruption": "gain-offset", "severity": 3, "label_alpha": null, "batch": 128,
                                   "accuracies": [0.5, 0.75], "best": "DMC on inputs", "below_source": []},
                                  {"corruption": "none", "severity": 0, "label_alpha": 0.1, "batch": 128,
                                   "accuracies": [0.75, 0.5], "best": "source", "below_source": ["DMC on inputs"]}])"));
}

step::Leak sample_leak() {
  step::LeakFigures of_site;
  of_site.rows_handed_over = 30;
  of_site.samples_handed_over = 0.5;
  of_site.span_excess = 0.75;
  step::LeakFigures all = of_site;
  all.labels = 1;
  step::AdversaryLeak aggregator{
      .adversary = step::Adversary::aggregator,
      .all = all,
      .sites = {of_site},
      .curve = {{.step = 4, .seconds = 2, .samples_handed_over = 0.25, .accumulated_excess = 0.5}},
      .why_not = Statement{"first-layer-not-sent"}};
  step::AdversaryLeak site = aggregator;
  site.adversary = step::Adversary::site;
  site.all.samples_handed_over = 0.125;
  site.epsilon = 3;
  site.delta = 1e-5;
  return {.adversaries = {aggregator, site}, .every = 7, .measured = 3, .why_not = Statement{"no-matrix-of-rows"}};
}

TEST(Json, SaysWhoReadsWhat) {
  Result result = sample_result();
  EXPECT_TRUE(Json::parse(to_json(document_of(result)))["runs"][0]["leak"].empty());
  EXPECT_TRUE(Json::parse(to_json(document_of(result)))["runs"][0]["samples_handed_over"].is_null())
      << "not known, and not zero";
  result.runs[0].leak = sample_leak();
  const Json run = Json::parse(to_json(document_of(result)))["runs"][0];
  EXPECT_EQ(run["samples_handed_over"], 0.5) << "of whoever knows most";
  EXPECT_EQ(run["epsilon"], 3.0);
  EXPECT_EQ(run["labels_told"], 1.0);
  const Json& leak = run["leak"];
  ASSERT_EQ(leak.size(), 2U);
  EXPECT_EQ(leak[0]["adversary"], "aggregator");
  EXPECT_EQ(leak[0]["epsilon"], "none");
  EXPECT_TRUE(leak[0]["span_in"].is_null()) << "not measured";
  EXPECT_EQ(leak[0]["curve"], Json::parse(R"([{"step": 4, "seconds": 2.0, "samples_handed_over": 0.25,
                                               "accumulated_excess": 0.5}])"));
  EXPECT_EQ(leak[1]["adversary"], "site");
  EXPECT_EQ(leak[1]["epsilon"], 3.0);
  EXPECT_EQ(leak[1]["sites"][0]["rows_handed_over"], 30.0);
  EXPECT_EQ(leak[1]["sites"][0]["site"], 0);
  EXPECT_EQ(leak[1]["sites_looked_at"], 1);
  std::string said = as_paragraph(answer_to(result).statements);
  EXPECT_NE(said.find("hold 50.0 % of the sites' samples"), std::string::npos) << said;
  EXPECT_EQ(said.find("were looked at"), std::string::npos) << said;
  // With many sites the observer sees some of them only, which the JSON lists.
  result.runs[0].leak->sampled = {7};
  result.runs[0].workers = 200;
  EXPECT_EQ(Json::parse(to_json(document_of(result)))["runs"][0]["leak"][1]["sites"][0]["site"], 7);
  said = as_paragraph(answer_to(result).statements);
  EXPECT_NE(said.find("(1 of 200 sites were checked)"), std::string::npos) << said;
}

TEST(Json, DocumentsEveryFieldAndNoOther) {
  Result result = sample_scale_result();
  result.runs[0].leak = sample_leak();
  result.runs[0].network = sample_network();
  result.runs[0].network.collectives[0].quicker = Statement{"quicker-in-library", {"tree"}}
                                                      .with("protocol", std::string("LL"))
                                                      .with("seconds", 1e-3)
                                                      .with("saving", 0.5)
                                                      .with("setting", std::string("NCCL_ALGO=Tree"));
  result.runs[0].throughput = Throughput{1024, 2048, 0.4, 0.8};
  result.runs[0].arrivals = {estimate::Arrival{4, 6.5, 2}, estimate::Arrival{6.5, 9, 3}};
  result.runs[0].final_accuracies = result.runs[0].best_accuracies = {0.95, 0.96};
  result.runs.push_back(result.runs[0]);
  result.runs[1].event_driven = sample_event_driven_run().event_driven;
  result.runs[1].curve = sample_event_driven_run().curve;
  result.runs[1].evaluation = sample_evaluation();
  result.runs[0].curve[1].sites = step::SitesEvaluation{0.7, 0.95, 0.25, {0.94, 0.98}};
  result.timing_only = true;
  std::set<std::string> written;
  collect_fields(Json::parse(to_json(document_of(result))), "", written);

  std::ifstream file(DADSIM_SOURCE_DIR "/docs/output-json.md");
  ASSERT_TRUE(file);
  std::set<std::string> documented;
  for (const Figure& figure : figures()) documented.insert(std::string("runs[].") + figure.name);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const std::string field = line.substr(3, line.find('`', 3) - 3);
    EXPECT_TRUE(documented.insert(field).second) << field << " is documented twice";
  }
  EXPECT_EQ(documented, written);
}

TEST(Json, HoldsTheNumbersOfTheResult) {
  const Json json = Json::parse(to_json(document_of(sample_result())));
  EXPECT_EQ(json["dadsim"]["simgrid"], "3.32");
  EXPECT_EQ(json["scenario"]["seed"], 18446744073709551615U);
  EXPECT_EQ(json["scenario"]["hash"], "0000000000000abc");
  const Json& run = json["runs"][0];
  EXPECT_EQ(run["exchange"], "aggregator");
  EXPECT_EQ(json["scenario"]["target_accuracy"], 0.95);
  EXPECT_EQ(run["target_reached"], true);
  EXPECT_EQ(run["target_step"], 2);
  EXPECT_EQ(run["target_seconds"], 6.5);
  EXPECT_EQ(run["step_seconds"].get<double>(), sample_result().runs[0].step_seconds);
  EXPECT_EQ(run["first_step_seconds"], 4.0);
  EXPECT_EQ(run["total_bytes"], 16000.0);
  EXPECT_EQ(run["bounds"][0]["resource"], "site-1");
  EXPECT_EQ(run["effective_rank"][1],
            Json::parse(R"({"epoch": 2, "layers": [{"layer": "dense1", "site": 5.5, "merged": 5.0},
                                                   {"layer": "dense2", "site": 2.25, "merged": 2.0}]})"));
  EXPECT_EQ(
      run["curve"][1],
      Json::parse(
          R"({"step": 2, "epochs": 1.0, "seconds": 6.5, "bytes": 14000.0, "loss": 0.75, "accuracy": 0.96, "auc": 0.99})"));
  EXPECT_EQ(run["notes"][0]["words"], "Ranks were mapped by depth.");
}

TEST(Json, SaysWhatSitesWithWeightsOfTheirOwnAreWorth) {
  Result result = sample_result();
  EXPECT_FALSE(Json::parse(to_json(document_of(result)))["runs"][0]["curve"][1].contains("sites"));
  result.runs[0].curve[1].sites = step::SitesEvaluation{0.7, 0.95, 0.25, {0.94, 0.98}};
  EXPECT_EQ(Json::parse(to_json(document_of(result)))["runs"][0]["curve"][1]["sites"],
            Json::parse(R"({"average_loss": 0.7, "average_accuracy": 0.95, "consensus_distance": 0.25,
                            "accuracies": [0.94, 0.98]})"));
}

TEST(Json, SaysHowTheNetworkWasSimulated) {
  Result result = sample_result();
  result.runs[0].network = sample_network();
  const Json network = Json::parse(to_json(document_of(result)))["runs"][0]["network"];
  EXPECT_EQ(network, Json::parse(R"({"fidelity": "flow",
      "fidelity_notes": [{"kind": "flow-by-budget", "subjects": [], "values": {"messages": 3e6},
                          "words": "by flow: 3e+06 messages are more than the budget"}], "messages": 12.0,
      "sampling": {"steps": 750.0, "simulated": 32.0, "step_error": 0.02},
      "collectives": [{"kind": "all-reduce", "algorithm": "ring", "least_bytes": 1000.0, "most_bytes": 2000.0,
                       "count": 3.0}],
      "links": [{"class": "ib-ndr", "transport": "rdma", "bytes_per_second": 5e10, "efficiency": 0.92,
                 "directions": 64.0}]})"));
  EXPECT_EQ(Json::parse(to_json(document_of(result)))["runs"][0]["links_used"], 3.0);
  EXPECT_EQ(Json::parse(to_json(document_of(result)))["runs"][0]["link_use"],
            Json::parse(R"([{"link": "node-0 nic_UP", "class": "ib-ndr", "bytes_per_second": 5e10,
                             "latency_seconds": 1e-6, "bytes_per_step": 2e6, "busy_share": 0.75}])"));
  result.runs[0].network.fidelity_notes.clear();
  result.runs[0].network.sampling.reset();
  EXPECT_FALSE(Json::parse(to_json(document_of(result)))["runs"][0]["network"].contains("sampling"));
  EXPECT_FALSE(Json::parse(to_json(document_of(result)))["runs"][0]["network"].contains("fidelity_notes"));
}

TEST(Json, HoldsTheThreeFactorsAndTheirProduct) {
  Result result = sample_scale_result();
  EXPECT_EQ(Json::parse(to_json(document_of(result)))["runs"][0]["at_scale"],
            Json::parse(R"({"steps_to_target": [30, 60], "steps_before_target": [20, 50], "why_not": null,
                            "further_targets": [], "ladder": null,
                            "relative_steps_over_targets": {"least": null, "greatest": null}})"));
  EXPECT_EQ(Json::parse(to_json(document_of(result)))["at_scale"]["known_steps"],
            Json::parse(R"({"value": 1000.0, "fewest": 900.0, "most": 1200.0})"));

  const Json factors = Json::parse(to_json(document_of(result)))["runs"][0];
  const auto is = [&](const char* figure, double value) { EXPECT_EQ(factors[figure], value) << figure; };
  is("relative_steps", 1.5);
  is("relative_steps_low", 1.2);
  is("relative_steps_high", 2);
  is("step_seconds", 0.5);
  is("scale_seconds", 840);
  is("scale_low", 660);
  is("scale_high", 1150);
  is("scale_seeds_low", 684);
  is("scale_seeds_high", 1100);

  result.scale->known.reset();
  result.scale->why_not = Statement{"own-workload"};
  result.runs[0].at_scale =
      ScaleResult{{reached_at(30), std::nullopt}, {std::nullopt, Statement{"met-before-training"}}, {}};
  const Json json = Json::parse(to_json(document_of(result)));
  EXPECT_TRUE(json["at_scale"]["known_steps"]["value"].is_null());
  EXPECT_EQ(json["at_scale"]["why_not"]["kind"], "own-workload");
  EXPECT_TRUE(json["at_scale"]["source"].is_null());
  const Json& scale = json["runs"][0]["at_scale"];
  EXPECT_TRUE(json["runs"][0]["relative_steps"].is_null());
  EXPECT_TRUE(json["runs"][0]["scale_seconds"].is_null());
  EXPECT_TRUE(scale["steps_to_target"][1].is_null());
  EXPECT_EQ(scale["why_not"]["kind"], "met-before-training");
  EXPECT_FALSE(Json::parse(to_json(document_of(sample_result()))).contains("at_scale"));
}

TEST(Json, HoldsRelativeStepsToEveryTarget) {
  Result result = sample_scale_result();
  result.runs[0].at_scale->further = {{0.97, {reached_at(70)}, {estimate::Estimate{1.8, 1.6, 2.1}}}};
  const Json scale = Json::parse(to_json(document_of(result)))["runs"][0]["at_scale"];
  EXPECT_EQ(scale["further_targets"],
            Json::parse(R"([{"target": 0.97, "steps_to_target": [70], "steps_before_target": [60],
                             "relative_steps": {"value": 1.8, "low": 1.6, "high": 2.1}, "why_not": null}])"));
  EXPECT_EQ(scale["relative_steps_over_targets"], Json::parse(R"({"least": 1.5, "greatest": 1.8})"));
}

TEST(Json, SaysWhetherCompressionBites) {
  Result result = sample_result();
  EXPECT_TRUE(Json::parse(to_json(document_of(result)))["runs"][0]["compression_is_lossy"].is_null());
  result.runs[0].is_lossy = false;
  result.runs[0].censored_layers = 12;
  const Json run = Json::parse(to_json(document_of(result)))["runs"][0];
  EXPECT_EQ(run["compression_is_lossy"], false);
  EXPECT_EQ(run["censored_layers"], 12);
}

TEST(Json, SaysHowAnEventDrivenRunWent) {
  Result result = sample_result();
  result.runs = {sample_event_driven_run()};
  const Json run = Json::parse(to_json(document_of(result)))["runs"][0];
  const Json& event_driven = run["event_run"];
  EXPECT_EQ(event_driven["contributions"], Json::parse(R"({"asked": 6, "used": 4, "late": 1, "failed": 1, "retried": 0,
                                                     "restored": 0, "lost_work_seconds": 0.0})"));
  EXPECT_EQ(event_driven["staleness"], Json::parse(R"([{"updates": 0, "times": 3}, {"updates": 2, "times": 1}])"));
  EXPECT_EQ(run["mean_staleness"], 0.5);
  EXPECT_EQ(run["participation"], 4.0 / 6);
  EXPECT_EQ(event_driven["busy_seconds"], 12.0);
  EXPECT_EQ(event_driven["idle_seconds"], 42.0);
  EXPECT_EQ(run["down_seconds"], 6.0);
  EXPECT_EQ(event_driven["facts"], Json::parse(R"({"drift": 0.25})"));
  EXPECT_EQ(event_driven["per_worker"]["host"], Json::parse(R"(["a", "b \"quoted\""])"));
  EXPECT_EQ(event_driven["per_worker"]["failed"], Json::parse("[0, 1]"));
  EXPECT_EQ(event_driven["parts"][3],
            Json::parse(R"({"round": 2, "worker": 1, "begin_seconds": 7.0, "end_seconds": 16.0,
                                                "end": "failed"})"));
  EXPECT_EQ(event_driven["parts_left_out"], 0);
  EXPECT_EQ(event_driven["host_outages"][0], Json::parse(R"({"node": 1, "begin_seconds": 10.0, "end_seconds": 16.0})"));
  EXPECT_EQ(run["curve"][2]["epochs"], 2.25);
  EXPECT_FALSE(Json::parse(to_json(document_of(sample_result())))["runs"][0].contains("event_run"));
}

TEST(Json, WritesNoMorePartsThanItSays) {
  Result result = sample_result();
  result.runs = {sample_event_driven_run()};
  step::Participation& event_driven = result.runs[0].event_driven->participation;
  event_driven.parts.resize(25'000, event_driven.parts.front());
  event_driven.answered = 30'000;
  event_driven.late = 10;
  event_driven.failed = 0;
  const Json json = Json::parse(to_json(document_of(result)))["runs"][0]["event_run"];
  EXPECT_EQ(json["parts"].size(), 20'000U);
  EXPECT_EQ(json["parts_left_out"], 10'010);
}

TEST(Json, WritesParametersAsWhatTheyAre) {
  const Json parameters = Json::parse(to_json(document_of(sample_result())))["runs"][0]["parameters"];
  EXPECT_TRUE(parameters["cap"].is_number_integer());
  EXPECT_EQ(parameters["cap"], 8);
  EXPECT_TRUE(parameters["tolerance"].is_number_float());
  EXPECT_EQ(parameters["tolerance"], 1e-3);
  EXPECT_EQ(parameters["way"], "two");

  Result result = sample_result();
  result.runs[0].spec.parameters = {{"a", "inf"}, {"b", "8 sites"}, {"c", ""}, {"d", "1e999"}};
  const Json texts = Json::parse(to_json(document_of(result)))["runs"][0]["parameters"];
  EXPECT_EQ(texts, Json(result.runs[0].spec.parameters));
}

TEST(Json, SaysNullWhereThereIsNoNumber) {
  Result result = sample_result();
  RunResult& run = result.runs[0];
  run.spec = sample_spec("no-sharing", "alone");
  run.target_reached = false;
  run.final_auc = std::numeric_limits<double>::quiet_NaN();
  run.curve[1].loss = std::numeric_limits<double>::infinity();
  const std::string text = to_json(document_of(result));
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  const Json json = Json::parse(text)["runs"][0];
  EXPECT_TRUE(json["exchange"].is_null());
  EXPECT_TRUE(json["target_step"].is_null());
  EXPECT_TRUE(json["target_seconds"].is_null());
  EXPECT_TRUE(json["final_auc"].is_null());
  EXPECT_TRUE(json["curve"][1]["loss"].is_null());
}

TEST(Json, EndsWithTheWallClockAndIsOtherwiseRepeatable) {
  Result result = sample_result();
  const std::string text = to_json(document_of(result));
  result.learning_wall_seconds = 99;
  result.timing_wall_seconds = 98;
  const std::string again = to_json(document_of(result));
  EXPECT_NE(text, again);
  EXPECT_EQ(text.substr(0, text.find("\"wall_clock\"")), again.substr(0, again.find("\"wall_clock\"")));
  EXPECT_EQ(std::prev(Json::parse(text).end()).key(), "wall_clock");
  EXPECT_EQ(text.back(), '\n');
}

TEST(Json, StaysUtf8WhateverAPlatformIsCalled) {
  Result result = sample_result();
  result.runs[0].bounds[0].resource = "h\xF4pital";
  EXPECT_EQ(Json::parse(to_json(document_of(result)))["runs"][0]["bounds"][0]["resource"], "h\uFFFDpital");
}

TEST(Json, RefusesRanksWithoutNames) {
  Result result = sample_result();
  result.layer_names.pop_back();
  EXPECT_THROW(to_json(document_of(result)), std::logic_error);
}

}  // namespace
}  // namespace dadsim::report
