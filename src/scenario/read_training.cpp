#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "scenario/read.hpp"

namespace dadsim {
namespace {

constexpr std::int64_t kMaxUnits = 1'000'000;
constexpr std::size_t kMaxLayers = 1000;
// Learned for real, in floats, with gradients and the optimizer's moments: about 2 GB.
constexpr double kMaxParameters = 1e8;
constexpr std::int64_t kMaxBatch = 1'000'000;
constexpr double kMaxEpochs = 1e6;

constexpr Range kPositive{.minimum = 0, .maximum = 1e6, .open_minimum = true};
constexpr Range kNonNegative{.minimum = 0, .maximum = 1e6};
constexpr Range kShare{.minimum = 0, .maximum = 1};
constexpr Range kPositiveShare{.minimum = 0, .maximum = 1, .open_minimum = true};
constexpr Range kDecay{.minimum = 0, .maximum = 1, .open_maximum = true};

OptimizerSpec read_optimizer(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  OptimizerSpec optimizer;
  if (element.name == "sgd") {
    optimizer.kind = OptimizerSpec::Kind::sgd;
    optimizer.learning_rate = node.real("learning-rate", kPositive, 0.1);
    optimizer.momentum = node.real("momentum", kDecay, 0);
    optimizer.nesterov = node.boolean("nesterov", false);
    if (optimizer.nesterov && optimizer.momentum == 0)
      node.fail_at("nesterov", "needs momentum", "a momentum above 0, e.g. momentum=\"0.9\"");
  } else {
    const bool decoupled = element.name == "adamw";
    optimizer.kind = decoupled ? OptimizerSpec::Kind::adamw : OptimizerSpec::Kind::adam;
    optimizer.weight_decay = decoupled ? 0.01 : 0;
    optimizer.learning_rate = node.real("learning-rate", kPositive, optimizer.learning_rate);
    optimizer.beta1 = node.real("beta1", kDecay, optimizer.beta1);
    optimizer.beta2 = node.real("beta2", kDecay, optimizer.beta2);
    optimizer.epsilon = node.real("epsilon", kPositiveShare, optimizer.epsilon);
  }
  optimizer.weight_decay = node.real("weight-decay", kNonNegative, optimizer.weight_decay);
  return optimizer;
}

ScheduleSpec read_schedule(const Element& element, const ReadContext& context) {
  static const std::array<std::string, 3> kKinds = {"constant", "steps", "cosine"};
  const Node node(element, context.findings);
  ScheduleSpec schedule;
  schedule.kind = static_cast<ScheduleSpec::Kind>(node.choice("kind", kKinds, 0));
  schedule.warm_up_epochs = node.real("warm-up-epochs", {.minimum = 0, .maximum = kMaxEpochs}, 0);
  const Attribute* kind = element.find("kind");
  if (kind != nullptr && std::ranges::find(kKinds, kind->value) == kKinds.end()) return schedule;

  const std::string because =
      fmt::format("means nothing with kind=\"{}\"", kKinds[static_cast<std::size_t>(schedule.kind)]);
  if (schedule.kind == ScheduleSpec::Kind::steps) {
    schedule.milestones = node.integers("milestones", 1, static_cast<std::int64_t>(kMaxEpochs));
    if (std::ranges::adjacent_find(schedule.milestones, std::greater_equal{}) != schedule.milestones.end()) {
      node.fail_at("milestones", "does not increase", "epochs in rising order, each once");
    }
    schedule.factor = node.real("factor", kPositiveShare, schedule.factor);
  } else {
    node.refuse("milestones", because, "only kind=\"steps\" has it");
    node.refuse("factor", because, "only kind=\"steps\" has it");
  }
  if (schedule.kind == ScheduleSpec::Kind::cosine) {
    schedule.final_factor = node.real("final-factor", kShare, schedule.final_factor);
  } else {
    node.refuse("final-factor", because, "only kind=\"cosine\" has it");
  }
  return schedule;
}

}  // namespace

ModelSpec read_model(const Element& element, const DataFindings& data, const ReadContext& context) {
  static const std::vector<std::string> kActivations = [] {
    std::vector<std::string> names;
    for (const Activation activation :
         {Activation::identity, Activation::relu, Activation::tanh, Activation::sigmoid, Activation::gelu}) {
      names.emplace_back(to_string(activation));
    }
    return names;
  }();
  const Node node(element, context.findings);
  const std::vector<const Element*> layers = node.children("dense");
  ModelSpec model;
  if (layers.empty()) node.fail("<model> lacks <dense>", "at least one layer, the last with one unit per class");
  if (layers.size() > kMaxLayers) {
    node.fail(fmt::format("<model> has {} layers", layers.size()), fmt::format("at most {}", kMaxLayers));
  }
  bool units_known = true;
  for (const Element* layer : layers) {
    const Node dense(*layer, context.findings);
    const std::optional<std::int64_t> units = dense.integer("units", 1, kMaxUnits);
    units_known = units_known && units.has_value();
    const Activation fallback = layer == layers.back() ? Activation::identity : Activation::relu;
    model.layers.push_back(
        {units.value_or(0),
         static_cast<Activation>(dense.choice("activation", kActivations, static_cast<std::size_t>(fallback))),
         dense.boolean("bias", true)});
    if (layer == layers.back() && units && data.classes > 0 && *units != data.classes) {
      dense.fail_at("units", "does not fit the data as the last layer",
                    fmt::format("the data have {} classes", data.classes));
    }
  }

  double parameters = 0;
  double in = static_cast<double>(data.features);
  for (const DenseSpec& layer : model.layers) {
    const auto out = static_cast<double>(layer.units);
    parameters += in * out + (layer.bias ? out : 0);
    in = out;
  }
  if (units_known && parameters > kMaxParameters) {
    node.fail(fmt::format("<model> has {:.3g} parameters", parameters),
              fmt::format("at most {:g}: it is learned for real; time a larger one with <timed-as>", kMaxParameters));
  }
  return model;
}

TrainingSpec read_training(const Element& element, std::size_t workers, std::int64_t samples,
                           const ReadContext& context) {
  static const std::array<std::string, 2> kBatches = {"proportional", "equal"};
  static const std::array<std::string, 2> kStops = {"budget", "target"};
  const Node node(element, context.findings);
  TrainingSpec training;
  training.batch = node.integer("batch", 1, kMaxBatch, training.batch);
  // A step takes batch × workers samples; an epoch is at least one step.
  const auto sites = static_cast<std::int64_t>(workers);
  if (sites > 0 && samples >= sites && training.batch * sites > samples) {
    node.fail_at("batch", fmt::format("for {} workers is more than the {} training samples", sites, samples),
                 fmt::format("at most {}", samples / sites));
  }
  training.batches = static_cast<TrainingSpec::Batches>(node.choice("batches", kBatches, 0));
  training.epochs = node.real("epochs", {.minimum = 0, .maximum = kMaxEpochs, .open_minimum = true}, training.epochs);
  training.target_accuracy = node.real("target-accuracy", kPositiveShare, training.target_accuracy);
  training.stop = static_cast<TrainingSpec::Stop>(node.choice("stop", kStops, 0));
  if (const Attribute* every = element.find("evaluate-every"); every != nullptr && every->value != "epoch") {
    constexpr std::int64_t kMaxSteps = 1'000'000'000;
    const std::optional<std::int64_t> steps = parse_integer(every->value);
    if (steps && *steps >= 1 && *steps <= kMaxSteps) {
      training.evaluate_every = *steps;
    } else {
      node.fail_at("evaluate-every", "is unknown", fmt::format("epoch, or a number of steps from 1 to {}", kMaxSteps));
    }
  }

  const Element* optimizer = nullptr;
  for (const Element& child : element.children) {
    if (child.name != "adam" && child.name != "adamw" && child.name != "sgd") continue;
    const OptimizerSpec spec = read_optimizer(child, context);
    if (optimizer == nullptr) {
      optimizer = &child;
      training.optimizer = spec;
    } else if (optimizer->name != child.name) {
      context.findings.add(child.origin, fmt::format("<{}> beside <{}>", child.name, optimizer->name),
                           "at most one optimizer");
    }
  }
  if (const Element* schedule = node.child("schedule")) training.schedule = read_schedule(*schedule, context);
  return training;
}

}  // namespace dadsim
