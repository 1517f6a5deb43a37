#include "scenario/vocabulary.hpp"

#include <algorithm>

namespace dadsim {

const std::vector<ElementRule>& vocabulary() {
  static const std::vector<ElementRule> kRules = {
      {.name = "scenario",
       .attributes = {"name", "seed"},
       .children = {"description", "platform", "device", "workers", "data", "model", "training", "timed-as", "run"}},
      {.name = "description", .text = true},
      {.name = "platform", .attributes = {"file"}},
      {.name = "device",
       .attributes = {"name", "description", "peak-flops", "memory-bandwidth", "matrix-efficiency", "memory-efficiency",
                      "launch-overhead"},
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
      {.name = "run", .attributes = {"algorithm", "label", "exchange"}, .repeatable = true, .any_attribute = true},
  };
  return kRules;
}

const ElementRule* find_rule(std::string_view name) {
  const auto found = std::ranges::find(vocabulary(), name, &ElementRule::name);
  return found == vocabulary().end() ? nullptr : &*found;
}

}  // namespace dadsim
