#include "scenario/vocabulary.hpp"

#include <algorithm>

namespace dadsim::scenario {
namespace {

const std::vector<std::string>& layers() {
  static const std::vector<std::string> kLayers = {
      "dense",     "convolution", "max-pool",   "mean-pool", "mean",      "select",      "gru",     "lstm",
      "attention", "layer-norm",  "batch-norm", "embedding", "positions", "class-token", "dropout", "residual"};
  return kLayers;
}

std::vector<std::string> layers_and(const std::string& name) {
  std::vector<std::string> names = layers();
  names.push_back(name);
  return names;
}

}  // namespace

const std::vector<ElementRule>& vocabulary() {
  static const std::vector<ElementRule> kRules = {
      {.name = "scenario",
       .attributes = {"name", "seed"},
       .children = {"description", "platform", "network", "device", "workers", "data", "model", "training", "timed-as",
                    "run", "costs", "goal", "sweep"}},
      {.name = "description", .text = true},
      {.name = "platform",
       .attributes = {"file", "transport", "description"},
       .children = {"gpu-cluster", "federation", "wan", "pair", "profile", "background", "change"}},
      {.name = "cluster-platform",
       .attributes = {"description"},
       .children = {"gpu-cluster", "federation", "wan", "pair", "profile", "background", "change"}},
      {.name = "gpu-cluster",
       .attributes = {"name", "nodes", "gpus", "inside", "bridge", "rails", "nic"},
       .children = {"one-switch", "fat-tree", "dragonfly", "torus"},
       .repeatable = true},
      {.name = "one-switch"},
      {.name = "fat-tree", .attributes = {"link", "nodes-per-switch", "oversubscription"}},
      {.name = "dragonfly", .attributes = {"link", "groups", "routers", "nodes"}},
      {.name = "torus", .attributes = {"link", "dimensions"}},
      {.name = "federation", .attributes = {"name"}, .children = {"sites", "hub"}, .repeatable = true},
      {.name = "sites",
       .attributes = {"name", "count", "up", "down", "latency", "up-latency", "down-latency", "transport", "efficiency",
                      "queue"},
       .repeatable = true},
      {.name = "hub",
       .attributes = {"up", "down", "latency", "up-latency", "down-latency", "transport", "efficiency", "queue"}},
      {.name = "wan",
       .attributes = {"name", "host", "host-bandwidth", "host-latency", "queue"},
       .children = {"region", "pair"}},
      {.name = "region", .attributes = {"name", "hosts"}, .repeatable = true},
      {.name = "pair",
       .attributes = {"from", "to", "bandwidth", "round-trip", "one-way", "transport"},
       .repeatable = true},
      {.name = "profile", .attributes = {"link", "of", "times", "factors", "period"}, .repeatable = true},
      {.name = "change", .attributes = {"link", "bandwidth-factor", "latency-factor"}, .repeatable = true},
      {.name = "background", .attributes = {"from", "to", "bytes", "every"}, .repeatable = true},
      {.name = "network",
       .attributes = {"fidelity", "message-budget", "timed-steps", "rendezvous"},
       .children = {"jitter"}},
      {.name = "jitter", .attributes = {"spatial", "temporal"}},
      {.name = "device",
       .attributes = {"name", "description", "peak-flops", "memory-bandwidth", "matrix-efficiency", "memory-efficiency",
                      "launch-overhead", "step-time", "tf32-flops", "fp16-flops", "bf16-flops", "memory", "watts",
                      "ramp-time", "tile-rows", "winograd-share"},
       .children = {"efficiency"},
       .repeatable = true},
      {.name = "efficiency", .attributes = {"of", "precision", "share"}, .repeatable = true},
      {.name = "workers", .attributes = {"memory"}, .children = {"worker", "aggregator"}},
      {.name = "worker", .attributes = {"hosts", "device"}, .repeatable = true},
      {.name = "aggregator", .attributes = {"host", "device"}},
      {.name = "data",
       .children = {"digits", "idx", "cifar10", "ts", "csv", "text", "shapes", "utterances", "grammar", "tabular",
                    "split", "shift"}},
      {.name = "digits", .attributes = {"train", "test"}},
      {.name = "idx", .attributes = {"images", "labels", "test-images", "test-labels", "train", "test"}},
      {.name = "cifar10", .attributes = {"files", "test-files", "train", "test"}},
      {.name = "ts", .attributes = {"train-file", "test-file", "train", "test"}},
      {.name = "csv", .attributes = {"file", "target", "test-share", "test-file", "train", "test"}},
      {.name = "text", .attributes = {"file", "length", "test-share", "train", "test"}},
      {.name = "shapes", .attributes = {"train", "test"}},
      {.name = "utterances", .attributes = {"length", "train", "test"}},
      {.name = "grammar", .attributes = {"length", "train", "test"}},
      {.name = "tabular", .attributes = {"features", "classes", "noise", "train", "test"}},
      {.name = "shift", .attributes = {"gain", "offset", "noise"}},
      {.name = "split", .attributes = {"by", "alpha", "shards", "sizes"}},
      {.name = "model", .attributes = {"name", "preset"}, .children = layers(), .any_attribute = true},
      {.name = "dense", .attributes = {"units", "activation", "bias", "positions"}, .repeatable = true},
      {.name = "convolution",
       .attributes = {"filters", "kernel", "stride", "padding", "activation", "bias"},
       .repeatable = true},
      {.name = "max-pool", .attributes = {"size", "stride"}, .repeatable = true},
      {.name = "mean-pool", .attributes = {"size", "stride"}, .repeatable = true},
      {.name = "mean", .repeatable = true},
      {.name = "select", .attributes = {"position"}, .repeatable = true},
      {.name = "gru", .attributes = {"units", "bias"}, .repeatable = true},
      {.name = "lstm", .attributes = {"units", "bias"}, .repeatable = true},
      {.name = "attention", .attributes = {"heads", "causal", "bias"}, .repeatable = true},
      {.name = "layer-norm", .attributes = {"epsilon"}, .repeatable = true},
      {.name = "batch-norm", .attributes = {"epsilon", "momentum", "activation"}, .repeatable = true},
      {.name = "embedding", .attributes = {"units"}, .repeatable = true},
      {.name = "positions", .repeatable = true},
      {.name = "class-token", .repeatable = true},
      {.name = "dropout", .attributes = {"rate"}, .repeatable = true},
      {.name = "residual", .attributes = {"activation"}, .children = layers_and("shortcut"), .repeatable = true},
      {.name = "shortcut", .children = layers()},
      {.name = "training",
       .attributes = {"batch", "batches", "epochs", "target-accuracy", "stop", "evaluate-every", "seeds"},
       .children = {"adam", "adamw", "sgd", "schedule"}},
      {.name = "adam", .attributes = {"learning-rate", "beta1", "beta2", "epsilon", "weight-decay"}},
      {.name = "adamw", .attributes = {"learning-rate", "beta1", "beta2", "epsilon", "weight-decay"}},
      {.name = "sgd", .attributes = {"learning-rate", "momentum", "nesterov", "weight-decay"}},
      {.name = "schedule", .attributes = {"kind", "warm-up-epochs", "milestones", "factor", "final-factor"}},
      {.name = "timed-as",
       .attributes = {"workload", "file", "batch", "steps", "epochs", "target", "evaluation-every",
                      "evaluation-seconds", "start-up", "precision"}},
      {.name = "workload", .attributes = {"name", "samples-per-epoch"}, .children = {"layer"}},
      {.name = "layer",
       .attributes = {"name", "kind", "in", "out", "rows-per-sample", "parameters", "forward-macs-per-sample",
                      "outputs-per-sample", "sequential"},
       .repeatable = true},
      {.name = "run",
       .attributes = {"algorithm", "label", "exchange", "all-reduce", "all-gather", "bucket", "first-bucket"},
       .repeatable = true,
       .any_attribute = true},
      {.name = "costs",
       .attributes = {"currency", "electricity", "carbon", "overhead", "network-energy"},
       .children = {"price", "egress"}},
      {.name = "price", .attributes = {"device", "per-hour", "idle-power"}, .repeatable = true},
      {.name = "egress", .attributes = {"per-gb", "links"}},
      {.name = "goal",
       .attributes = {"accuracy", "within", "cost", "energy-kwh", "carbon-kg", "run"},
       .children = {"allow"}},
      {.name = "allow",
       .attributes = {"path", "values", "from", "to", "whole", "prefer", "unit", "form"},
       .repeatable = true},
      {.name = "sweep", .attributes = {"method", "points", "seed", "seeds"}, .children = {"vary", "linked"}},
      {.name = "vary",
       .attributes = {"path", "values", "from", "to", "steps", "scale", "whole", "unit", "form"},
       .repeatable = true},
      {.name = "linked", .children = {"vary"}, .repeatable = true},
  };
  return kRules;
}

bool is_root(const ElementRule& rule) {
  return rule.name == "scenario" || rule.name == "cluster-platform" || rule.name == "workload";
}

const ElementRule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(vocabulary(), name, &ElementRule::name);
  return found == vocabulary().end() ? nullptr : &*found;
}

}  // namespace dadsim::scenario
