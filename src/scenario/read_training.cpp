#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "scenario/read.hpp"
#include "scenario/white_space.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::int64_t kMaxBatch = 1'000'000;
constexpr double kMaxEpochs = 1e6;

constexpr Range kLearningRate{.minimum = 0, .maximum = 1e6, .open_minimum = true};
constexpr Range kNonNegative{.minimum = 0, .maximum = 1e6};
constexpr Range kDecay{.minimum = 0, .maximum = 1, .open_maximum = true};

constexpr std::array<const char*, 5> kOptimizers{"adam", "adamw", "sgd", "lamb", "lars"};

void read_moments(const Node& node, spec::OptimizerSpec& optimizer) {
  optimizer.learning_rate = node.real("learning-rate", kLearningRate, optimizer.learning_rate);
  optimizer.beta1 = node.real("beta1", kDecay, optimizer.beta1);
  optimizer.beta2 = node.real("beta2", kDecay, optimizer.beta2);
  optimizer.epsilon = node.real("epsilon", kPositiveShare, optimizer.epsilon);
}

spec::OptimizerSpec read_optimizer(const Element& element, const ReadContext& context) {
  const Node node(element, context.findings);
  spec::OptimizerSpec optimizer;
  if (element.name == "sgd") {
    optimizer.kind = spec::OptimizerSpec::Kind::sgd;
    optimizer.learning_rate = node.real("learning-rate", kLearningRate, 0.1);
    optimizer.momentum = node.real("momentum", kDecay, 0);
    optimizer.nesterov = node.boolean("nesterov", false);
    if (optimizer.nesterov && optimizer.momentum == 0)
      node.fail_at("nesterov", "needs momentum", "a momentum above 0, e.g. momentum=\"0.9\"");
  } else if (element.name == "lars") {
    optimizer.kind = spec::OptimizerSpec::Kind::lars;
    optimizer.learning_rate = node.real("learning-rate", kLearningRate, 1);
    optimizer.momentum = node.real("momentum", kDecay, 0.9);
    optimizer.trust = node.real("trust", kPositiveShare, optimizer.trust);
  } else if (element.name == "lamb") {
    optimizer.kind = spec::OptimizerSpec::Kind::lamb;
    optimizer.weight_decay = 0.01;
    optimizer.epsilon = 1e-6;
    read_moments(node, optimizer);
  } else {
    const bool decoupled = element.name == "adamw";
    optimizer.kind = decoupled ? spec::OptimizerSpec::Kind::adamw : spec::OptimizerSpec::Kind::adam;
    optimizer.weight_decay = decoupled ? 0.01 : 0;
    read_moments(node, optimizer);
  }
  optimizer.weight_decay = node.real("weight-decay", kNonNegative, optimizer.weight_decay);
  return optimizer;
}

spec::ScheduleSpec read_schedule(const Element& element, const ReadContext& context) {
  static const std::array<std::string, 3> kKinds = {"constant", "steps", "cosine"};
  const Node node(element, context.findings);
  spec::ScheduleSpec schedule;
  schedule.kind = static_cast<spec::ScheduleSpec::Kind>(node.choice("kind", kKinds, 0));
  schedule.warm_up_epochs = node.real("warm-up-epochs", {.minimum = 0, .maximum = kMaxEpochs}, 0);
  const Attribute* kind = element.find("kind");
  if (kind != nullptr && std::ranges::find(kKinds, kind->value) == kKinds.end()) return schedule;

  const std::string because =
      fmt::format("means nothing with kind=\"{}\"", kKinds[static_cast<std::size_t>(schedule.kind)]);
  if (schedule.kind == spec::ScheduleSpec::Kind::steps) {
    schedule.milestones = node.integers("milestones", 1, static_cast<std::int64_t>(kMaxEpochs));
    if (std::ranges::adjacent_find(schedule.milestones, std::greater_equal{}) != schedule.milestones.end()) {
      node.fail_at("milestones", "does not increase", "epochs in rising order, each once");
    }
    schedule.factor = node.real("factor", kPositiveShare, schedule.factor);
  } else {
    node.refuse("milestones", because, "only kind=\"steps\" has it");
    node.refuse("factor", because, "only kind=\"steps\" has it");
  }
  if (schedule.kind == spec::ScheduleSpec::Kind::cosine) {
    schedule.final_factor = node.real("final-factor", kShare, schedule.final_factor);
  } else {
    node.refuse("final-factor", because, "only kind=\"cosine\" has it");
  }
  return schedule;
}

/// One target or several.
void read_targets(const Node& node, spec::TrainingSpec& training) {
  const Attribute* all = node.element().find("target-accuracy");
  const std::vector<std::string> words = all == nullptr ? std::vector<std::string>{} : split_words(all->value);
  if (words.size() < 2) {
    training.target_accuracy = node.real("target-accuracy", kPositiveShare, training.target_accuracy);
    return;
  }
  constexpr const char* kRemedy = "numbers above 0, at most 1, each once, with spaces between them";
  std::vector<double> targets;
  for (const std::string& word : words) {
    const std::optional<double> target = parse_real(word);
    if (!target || !kPositiveShare.contains(*target) || std::ranges::find(targets, *target) != targets.end()) {
      node.fail_at("target-accuracy", fmt::format("holds '{}'", printable(word)), kRemedy);
      return;
    }
    targets.push_back(*target);
  }
  training.target_accuracy = targets.front();
  training.further_targets.assign(targets.begin() + 1, targets.end());
}

}  // namespace

spec::TrainingSpec read_training(const Element& element, std::size_t workers, std::int64_t samples,
                                 const ReadContext& context) {
  static const std::array<std::string, 3> kBatches = {"proportional", "equal", "poisson"};
  static const std::array<std::string, 2> kStops = {"budget", "target"};
  const Node node(element, context.findings);
  spec::TrainingSpec training;
  training.batch = node.integer("batch", 1, kMaxBatch, training.batch);
  // A step takes batch × workers samples; an epoch is at least one step.
  const auto sites = static_cast<std::int64_t>(workers);
  if (sites > 0 && samples >= sites && training.batch * sites > samples) {
    node.fail_at("batch", fmt::format("for {} workers is more than the {} training samples", sites, samples),
                 fmt::format("at most {}", samples / sites));
  }
  training.batches = static_cast<spec::TrainingSpec::Batches>(node.choice("batches", kBatches, 0));
  training.epochs = node.real("epochs", {.minimum = 0, .maximum = kMaxEpochs, .open_minimum = true}, training.epochs);
  read_targets(node, training);
  training.stop = static_cast<spec::TrainingSpec::Stop>(node.choice("stop", kStops, 0));
  if (const Attribute* every = element.find("evaluate-every"); every != nullptr && every->value != "epoch") {
    constexpr std::int64_t kMaxSteps = 1'000'000'000;
    const std::optional<std::int64_t> steps = parse_integer(every->value);
    if (steps && *steps >= 1 && *steps <= kMaxSteps) {
      training.evaluate_every = *steps;
    } else {
      node.fail_at("evaluate-every", "is unknown", fmt::format("epoch, or a number of steps from 1 to {}", kMaxSteps));
    }
  }

  training.seeds = node.integer("seeds", 1, 1000, training.seeds);
  static const std::array<std::string, 2> kExact = {"each", "once"};
  training.exact_once = node.choice("exact", kExact, 0) == 1;

  const Element* optimizer = nullptr;
  for (const Element& child : element.children) {
    if (std::ranges::find(kOptimizers, child.name) == kOptimizers.end()) continue;
    const spec::OptimizerSpec spec = read_optimizer(child, context);
    if (optimizer == nullptr) {
      optimizer = &child;
      training.optimizer = spec;
    } else if (optimizer->name != child.name) {
      context.findings.add(child.origin, fmt::format("<{}> beside <{}>", child.name, optimizer->name),
                           "at most one optimizer");
    }
  }
  constexpr Range kNorm{.minimum = 0, .maximum = 1e9, .open_minimum = true};
  if (node.has("clip-norm")) training.optimizer.clip_norm = node.real("clip-norm", kNorm, 0);
  if (const Element* schedule = node.child("schedule")) training.schedule = read_schedule(*schedule, context);
  return training;
}

}  // namespace dadsim::scenario
