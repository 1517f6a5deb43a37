#include "scenario/vocabulary.hpp"

#include <algorithm>

namespace dadsim {

const std::vector<ElementRule>& vocabulary() {
  static const std::vector<ElementRule> kRules = {
      {.name = "scenario",
       .attributes = {"name", "seed"},
       .children = {"description", "platform", "network", "device", "workers", "data", "model", "training", "timed-as",
                    "run"}},
      {.name = "description", .text = true},
      {.name = "platform",
       .attributes = {"file", "transport", "description"},
       .children = {"gpu-cluster", "federation", "wan", "pair", "profile", "background"}},
      {.name = "cluster-platform",
       .attributes = {"description"},
       .children = {"gpu-cluster", "federation", "wan", "pair", "profile", "background"}},
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
      {.name = "background", .attributes = {"from", "to", "bytes", "every"}, .repeatable = true},
      {.name = "network", .attributes = {"fidelity", "message-budget", "rendezvous"}, .children = {"jitter"}},
      {.name = "jitter", .attributes = {"spatial", "temporal"}},
      {.name = "device",
       .attributes = {"name", "description", "peak-flops", "memory-bandwidth", "matrix-efficiency", "memory-efficiency",
                      "launch-overhead", "step-time"},
       .repeatable = true},
      {.name = "workers", .children = {"worker", "aggregator"}},
      {.name = "worker", .attributes = {"hosts", "device"}, .repeatable = true},
      {.name = "aggregator", .attributes = {"host", "device"}},
      {.name = "data", .children = {"digits", "idx", "split"}},
      {.name = "digits", .attributes = {"train", "test"}},
      {.name = "idx", .attributes = {"images", "labels", "test-images", "test-labels", "train", "test"}},
      {.name = "split", .attributes = {"by", "alpha", "shards", "sizes"}},
      {.name = "model", .children = {"dense"}},
      {.name = "dense", .attributes = {"units", "activation", "bias"}, .repeatable = true},
      {.name = "training",
       .attributes = {"batch", "batches", "epochs", "target-accuracy", "stop", "evaluate-every"},
       .children = {"adam", "adamw", "sgd", "schedule"}},
      {.name = "adam", .attributes = {"learning-rate", "beta1", "beta2", "epsilon", "weight-decay"}},
      {.name = "adamw", .attributes = {"learning-rate", "beta1", "beta2", "epsilon", "weight-decay"}},
      {.name = "sgd", .attributes = {"learning-rate", "momentum", "nesterov", "weight-decay"}},
      {.name = "schedule", .attributes = {"kind", "warm-up-epochs", "milestones", "factor", "final-factor"}},
      {.name = "timed-as", .attributes = {"workload", "batch"}},
      {.name = "run",
       .attributes = {"algorithm", "label", "exchange", "all-reduce", "all-gather", "bucket"},
       .repeatable = true,
       .any_attribute = true},
  };
  return kRules;
}

bool is_root(const ElementRule& rule) { return rule.name == "scenario" || rule.name == "cluster-platform"; }

const ElementRule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(vocabulary(), name, &ElementRule::name);
  return found == vocabulary().end() ? nullptr : &*found;
}

}  // namespace dadsim
