#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "spec/workload.hpp"
#include "study/composition/drawn_cluster.hpp"
#include "study/composition/drawn_learning.hpp"
#include "study/composition/drawn_runs.hpp"

namespace dadsim::test {

/// Requirements on a drawn scenario; empty members: none.
struct Wanted {
  std::string method = {};       ///< method that a run must have
  bool learned_first = false;    ///< no run is event-driven
  bool event_driven = false;     ///< every run is event-driven
  double parameter_share = 0.2;  ///< fraction of a method's parameters that are set
  std::int64_t sites = 0;        ///< number of workers, of one or two devices each; 0: one to four
};

/// Draws how the timed network is divided, and which work a step defers or offloads. `own` must already hold `tensor`
/// and `pipeline` of <timed-as>; `devices` are per worker.
inline void draw_divisions(Drawing& draw, std::map<std::string, std::string>& own, std::int64_t& devices) {
  const bool blocks = own["workload"].find("resnet") == std::string::npos;
  if (blocks && draw.chance(0.3)) {
    for (const auto& [name, value] : {std::pair{"workload", "decoder"},
                                      {"layers", "2"},
                                      {"hidden", "64"},
                                      {"heads", "4"},
                                      {"kv-heads", "2"},
                                      {"feed-forward", "128"},
                                      {"vocabulary", "256"},
                                      {"sequence", "32"},
                                      {"experts", "4"},
                                      {"experts-per-token", "2"},
                                      {"expert-feed-forward", "64"}})
      own[name] = value;
    own["expert-parallel"] = devices == 1 ? draw.one_of({"", "2"}) : "2";
    if (own["expert-parallel"] == "2") {
      own["expert-imbalance"] = draw.one_of({"", "1.5"});
      if (!own["expert-imbalance"].empty()) own["expert-capacity"] = draw.one_of({"", "1.25"});
      own["expert-dispatch"] = draw.one_of({"", "fp8"});
      own["expert-exchange"] = draw.one_of({"", "once"});
      own["expert-launch"] = draw.one_of({"", "counted"});
      own["expert-overlap"] = draw.one_of({"", "false"});
      if (!own["tensor"].empty()) own["sequence-parallel"] = "true";
      if (own["tensor"] == "2" && devices == 2) own["expert-tensor"] = draw.one_of({"", "2"});
    }
  }
  if (blocks && devices <= 2 && draw.chance(0.25)) {
    own["context"] = "2";
    own["context-exchange"] = draw.one_of({"", "ring", "all-gather"});
    devices *= 2;
  }
  if (!own["tensor"].empty() && draw.chance(0.4)) {
    own["tensor-overlap"] = draw.one_of({"backward", "products"});
    if (own["tensor-overlap"] == "products") own["sequence-parallel"] = "true";
  }
  if (!own["pipeline"].empty() && draw.chance(0.3)) {
    own["schedule"] = draw.one_of({"zb-h1", "dualpipe-v"});
    own["interleave"] = own["schedule"] == "zb-h1" ? "" : "2";
    own["micro-batch"] = "1";
  }
  if (blocks && draw.chance(0.25)) {
    own["offload"] = draw.one_of({"optimizer", "activations", "both"});
    own["offload-rate"] = "25GBps";
    if (own["offload"] != "activations") own["host-rate"] = "50GBps";
  }
  if (own["context"].empty() && draw.chance(0.2)) {
    own["sharding"] = draw.one_of({"optimizer", "parameters"});
    own["sharding-group"] = draw.one_of({"1", "2"});
  }
}

/// Draws a schema-valid scenario over the whole language; most are accepted. Equal seeds give equal scenarios.
inline Element drawn_scenario(std::uint64_t seed, const scenario::Catalog& catalog, const Wanted& wanted = {}) {
  Drawing draw(seed, catalog);
  Element root = draw.element("scenario", {{"name", "drawn"}, {"seed", draw.one_of({"1", "2", "3"})}});
  if (draw.chance(0.1)) root.children.push_back({.name = "description", .origin = {}, .text = "Drawn."});
  const DrawnCluster cluster = ClusterDrawing(draw).cluster();
  root.children.push_back(cluster.platform);
  if (draw.chance(0.4)) {
    std::map<std::string, std::string> of_network;
    if (draw.chance(0.9)) of_network = {{"streams", ""}, {"window", ""}};
    Element network = draw.element("network", of_network, 0.25);
    if (draw.chance(0.3)) network.children.push_back(draw.element("jitter", {}, 0.6));
    root.children.push_back(network);
  }
  const bool timing_only = wanted.method.empty() && !wanted.event_driven && draw.chance(0.15);
  const bool timed_as = timing_only || draw.chance(0.3);

  // A worker has several devices if the timed network is divided.
  Element timed{.name = "timed-as", .origin = {}};
  std::int64_t devices = 1;
  if (timed_as) {
    std::map<std::string, std::string> own{{"file", ""}};
    const std::string what =
        timing_only ? draw.one_of({"workload", "file"}) : draw.one_of({"workload", "workload", "file", ""});
    if (what != "workload") own["workload"] = "";
    if (what == "workload")
      own["workload"] = draw.one_of({"resnet-18", "resnet-18-cifar10", "vit-b-16", "bert-base", "gpt-2-small"});
    if (what == "file") own["file"] = draw.one_of({"own.xml", "own.csv"});
    const bool divided = what == "workload" && draw.chance(0.35);
    for (const char* one :
         {"tensor",          "pipeline",         "sequence-parallel", "interleave",      "schedule",
          "context",         "context-exchange", "tensor-overlap",    "expert-parallel", "expert-imbalance",
          "expert-capacity", "expert-dispatch",  "expert-launch",     "expert-exchange", "expert-tensor",
          "expert-overlap",  "offload",          "offload-rate",      "host-rate",       "sharding-group"})
      own[one] = "";
    if (divided) {
      own["tensor"] = draw.one_of({"", "2"});
      own["pipeline"] = draw.one_of({"", "2"});
      if (!own["tensor"].empty()) own.erase("sequence-parallel");
      if (!own["pipeline"].empty()) own["schedule"] = draw.one_of({"1f1b", "gpipe", ""});
      if (!own["pipeline"].empty() && draw.chance(0.3)) own["interleave"] = "2";
      for (const char* one : {"tensor", "pipeline"}) devices *= own[one].empty() ? 1 : 2;
      own["micro-batch"] = draw.one_of({"", "1", "2"});
      own["batch"] = "4";
      Drawing apart(seed + 2'000'003, catalog);  // a separate stream of draws, which leaves all later draws unchanged
      draw_divisions(apart, own, devices);
    } else if (draw.chance(0.7)) {
      for (const char* one : {"micro-batch", "recompute", "sharding", "prefetch"}) own[one] = "";
    }
    // A workload accepts only some of all sizes.
    const spec::Workload* known = spec::workload_registry().find(own.contains("workload") ? own.at("workload") : "");
    for (const spec::ParameterSpec& one : spec::workload_sizes()) {
      if (known == nullptr ||
          std::ranges::find(known->parameters, one.name, &spec::ParameterSpec::name) == known->parameters.end())
        own[one.name] = "";
    }
    if (what.empty())
      for (const char* one : {"steps", "epochs", "target", "start-up"}) own[one] = "";
    if (!what.empty()) {
      own["steps"] = draw.one_of({"", "", "", "100", "5000"});
      own["epochs"] = own["steps"].empty() ? draw.one_of({"", "", "", "1", "90"}) : "";
      if (own["steps"].empty() && own["epochs"].empty()) own["target"] = "";
    }
    if (!own.contains("sharding") && draw.chance(0.15)) {
      own["sharding"] = "parameters";
    } else {
      own["prefetch"] = "";
    }
    const bool evaluated = !what.empty() && draw.chance(0.15);
    own["evaluation-every"] = evaluated ? "100" : "";
    own["evaluation-seconds"] = evaluated ? draw.one_of({"1", "20"}) : "";
    if (timing_only) own["batch"] = draw.one_of({"1", "4"});
    if (draw.chance(0.8)) own["attention"] = "";
    if (draw.chance(0.8)) own["program"] = own["operator-time"] = "";
    if (draw.chance(0.7))
      for (const char* one : {"precision", "gradients", "loss-scaling", "masters", "moments", "adapters", "adapted"})
        own[one] = "";
    timed = draw.element("timed-as", own, 0.2);
  }
  const std::int64_t drawn_sites = devices == 4 ? draw.between(1, 2) : draw.between(1, 4);
  const std::int64_t sites = wanted.sites == 0 ? drawn_sites : std::min(wanted.sites, 8 / devices);
  RunDrawing runs(draw, sites);
  const bool learned_first = wanted.learned_first || timing_only || devices > 1;
  const std::vector<const methods::MethodInfo*> chosen =
      runs.chosen_methods(learned_first, wanted.event_driven, wanted.method);
  const bool needs_server = std::ranges::any_of(chosen, [](const auto* one) {
    return one->event_driven() && one->needs_server(default_parameters(one->parameters));
  });
  const bool aggregator = needs_server ? draw.chance(0.97) : draw.chance(0.4);
  const bool all_event_driven = std::ranges::all_of(chosen, &methods::MethodInfo::event_driven);
  const bool some_event_driven = std::ranges::any_of(chosen, &methods::MethodInfo::event_driven);

  Element workers = draw.element("workers", {}, 0.2);
  std::string names;
  Texts placed;
  for (std::int64_t i = 0; i < sites * devices; ++i) {
    placed.push_back(cluster.hosts[static_cast<std::size_t>(i)]);
    names += (i == 0 ? "" : " ") + placed.back();
  }
  const bool own_device = draw.chance(0.2);
  std::map<std::string, std::string> of_workers{{"hosts", names}};
  if (own_device) of_workers["device"] = "mine";
  if (!own_device && draw.chance(0.6)) of_workers["device"] = draw.one_of({"rtx-3090", "a100-sxm4-80"});
  workers.children.push_back(draw.element("worker", of_workers));
  if (aggregator)
    workers.children.push_back(draw.element("aggregator", {{"host", cluster.hub}, {"device", "xeon-8380"}}));
  if (aggregator) placed.push_back(cluster.hub);
  root.children.push_back(workers);
  if (own_device) {
    Element device = draw.element("device",
                                  {{"peak-flops", "20Tf"},
                                   {"tf32-flops", "40Tf"},
                                   {"fp16-flops", "80Tf"},
                                   {"bf16-flops", "80Tf"},
                                   {"memory", draw.one_of({"", "24GB", "80GB"})}},
                                  0.3);
    if (draw.chance(0.4)) device.children.push_back(draw.element("efficiency", {}, 0.3));
    root.children.push_back(device);
  }

  LearningDrawing learning(draw, sites);
  if (timing_only) {
    root.children.push_back({.name = "timing-only", .origin = {}});
    if (draw.chance(0.4)) {
      Element training{.name = "training", .origin = {}};
      if (draw.chance(0.3)) Drawing::set(training, "clip-norm", "1");
      training.children.push_back(learning.optimizer(RunDrawing::optimizer_of(chosen)));
      root.children.push_back(training);
    } else if (const std::string needed = RunDrawing::optimizer_of(chosen); needed == "plain-sgd") {
      root.children.push_back({.name = "training", .origin = {}, .children = {learning.optimizer(needed)}});
    }
  } else {
    Element data = learning.data();
    if (all_event_driven && draw.chance(0.35)) data.children.push_back(runs.drift(placed, learning.pictures()));
    root.children.push_back(data);
    root.children.push_back(learning.model());
    root.children.push_back(learning.training(RunDrawing::optimizer_of(chosen), some_event_driven));
  }
  if (timed_as) root.children.push_back(timed);
  const bool fails = draw.chance(some_event_driven ? 0.4 : 0.2),
             comes_and_goes = draw.chance(some_event_driven ? 0.4 : 0.2);
  if (fails) root.children.push_back(runs.failures(placed));
  if (comes_and_goes) root.children.push_back(runs.availability(placed));
  if (some_event_driven && !learning.symbols() && draw.chance(0.3))
    root.children.push_back(runs.evaluation(learning.pictures()));
  for (std::size_t i = 0; i < chosen.size(); ++i)
    root.children.push_back(runs.run(*chosen[i], i + 1, !aggregator, wanted.parameter_share, fails || comes_and_goes));
  if (draw.chance(0.3)) root.children.push_back(runs.costs());
  if (!timing_only && draw.chance(0.15)) {
    Element goal = draw.element("goal", {{"run", draw.one_of({"", "run 1"})}}, 0.2);
    goal.children.push_back(draw.element("allow", {{"path", "training.batch"},
                                                   {"values", "2 3"},
                                                   {"from", ""},
                                                   {"to", ""},
                                                   {"whole", ""},
                                                   {"prefer", ""},
                                                   {"unit", ""},
                                                   {"form", ""}}));
    root.children.push_back(goal);
  }
  if (draw.chance(0.15)) {
    const std::string method = draw.one_of({"grid", "random", "latin-hypercube", "list"});
    const bool drawn = method == "random" || method == "latin-hypercube";
    Element sweep = draw.element(
        "sweep", {{"method", method}, {"points", drawn ? "2" : ""}, {"seed", drawn ? draw.one_of({"", "3"}) : ""}});
    const bool range = draw.chance(0.5);
    std::map<std::string, std::string> vary{{"path", "network.message-budget"},
                                            {"values", range ? "" : "100 200 900"},
                                            {"from", range ? "100" : ""},
                                            {"to", range ? "900" : ""},
                                            {"steps", range && !drawn ? draw.one_of({"2", "3"}) : ""},
                                            {"unit", ""},
                                            {"form", ""},
                                            {"whole", range ? "true" : ""}};
    if (!range) vary["scale"] = "";
    sweep.children.push_back(draw.element("vary", vary, 0.3));
    root.children.push_back(sweep);
  }
  if (seed % 5 == 2 && std::ranges::any_of(chosen, [](const auto* method) { return method->communicates(); })) {
    Drawing apart(seed + 1'000'003, catalog);  // a separate stream of draws, which leaves all later draws unchanged
    std::map<std::string, std::string> own{{"name", apart.one_of({"none", "nvflare", "flower", "hivemind"})},
                                           {"serialise", apart.one_of({"50kBps", "2MBps"})},
                                           {"server-serialise", apart.one_of({"90kBps", "3MBps"})},
                                           {"version", ""},
                                           {"message", ""},
                                           {"idle-cut", apart.one_of({"", "1h"})}};
    if (own["name"] == "flower") own["version"] = apart.one_of({"", "1.19"});
    if (!some_event_driven)
      for (const char* one : {"polling", "evaluate", "sends", "server-models", "idle-cut"}) own[one] = "";
    const bool in_rounds = std::ranges::any_of(chosen, [](const auto* method) {
      return std::ranges::find(method->parameters, "over-selection", &spec::ParameterSpec::name) !=
             method->parameters.end();
    });
    if (!in_rounds) own["evaluate"] = "";
    // The server's attributes have an effect in event-driven runs only.
    if (!some_event_driven)
      for (const char* one : {"server-serialise", "server-deserialise", "server-cores", "aggregate"}) own[one] = "";
    root.children.push_back(apart.element("framework", own, 0.3));
  }
  return root;
}

}  // namespace dadsim::test
