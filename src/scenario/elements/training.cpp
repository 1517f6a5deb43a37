#include <fmt/format.h>

#include <algorithm>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/read.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

/// Returns the rows of Adam and its variants.
std::vector<Row<spec::OptimizerSpec>> adam_rows() {
  using Spec = spec::OptimizerSpec;
  return {attribute("learning-rate", &Spec::learning_rate, real(kPositive)),
          attribute("beta1", &Spec::beta1, real(kDecay)), attribute("beta2", &Spec::beta2, real(kDecay)),
          attribute("epsilon", &Spec::epsilon, real(kPositiveShare)),
          attribute("weight-decay", &Spec::weight_decay, real(kNonNegative))};
}

const Table<spec::OptimizerSpec>& adam_table() {
  using Spec = spec::OptimizerSpec;
  static const Table<Spec> kTable = Table<Spec>("adam", "Adam (Kingma and Ba, arXiv 1412.6980); the default.",
                                                adam_rows(), {.kind = Spec::Kind::adam});
  return kTable;
}

const Table<spec::OptimizerSpec>& adamw_table() {
  using Spec = spec::OptimizerSpec;
  static const Table<Spec> kTable = Table<Spec>("adamw", "AdamW (Loshchilov and Hutter, arXiv 1711.05101).",
                                                adam_rows(), {.kind = Spec::Kind::adamw, .weight_decay = 0.01});
  return kTable;
}

const Table<spec::OptimizerSpec>& lamb_table() {
  using Spec = spec::OptimizerSpec;
  static const Table<Spec> kTable = Table<Spec>("lamb", "LAMB (You et al., arXiv 1904.00962).", adam_rows(),
                                                {.kind = Spec::Kind::lamb, .weight_decay = 0.01, .epsilon = 1e-6});
  return kTable;
}

const Table<spec::OptimizerSpec>& lars_table() {
  using Spec = spec::OptimizerSpec;
  static const Table<Spec> kTable = Table<Spec>(
      "lars", "LARS (You, Gitman and Ginsburg, arXiv 1708.03888).",
      {attribute("learning-rate", &Spec::learning_rate, real(kPositive)),
       attribute("momentum", &Spec::momentum, real(kDecay)), attribute("trust", &Spec::trust, real(kPositiveShare)),
       attribute("weight-decay", &Spec::weight_decay, real(kNonNegative))},
      {.kind = Spec::Kind::lars, .learning_rate = 1, .momentum = 0.9});
  return kTable;
}

const Table<spec::OptimizerSpec>& muon_table() {
  using Spec = spec::OptimizerSpec;
  static const Table<Spec> kTable = Table<Spec>(
      "muon",
      "Muon (Jordan et al., 2024, KellerJordan/Muon) for hidden matrices: all matrices that multiply rows, except the "
      "last matrix and a first convolution. AdamW updates all other parameters.",
      {attribute("learning-rate", &Spec::learning_rate, real(kPositive)),
       attribute("momentum", &Spec::momentum, real(kDecay)), attribute("nesterov", &Spec::nesterov),
       attribute("scale", &Spec::scale), attribute("coefficients", &Spec::coefficients),
       attribute("weight-decay", &Spec::weight_decay, real(kNonNegative)),
       attribute("adam-rate", &Spec::adam_rate, real(kPositive)), attribute("beta1", &Spec::beta1, real(kDecay)),
       attribute("beta2", &Spec::beta2, real(kDecay)), attribute("epsilon", &Spec::epsilon, real(kPositiveShare))},
      {.kind = Spec::Kind::muon,
       .learning_rate = 0.02,
       .momentum = 0.95,
       .nesterov = true,
       .beta2 = 0.95,
       .epsilon = 1e-10});
  return kTable;
}

const Table<spec::OptimizerSpec>& sgd_table() {
  using Spec = spec::OptimizerSpec;
  static const Table<Spec> kTable =
      Table<Spec>("sgd", "Stochastic gradient descent.",
                  {attribute("learning-rate", &Spec::learning_rate, real(kPositive)),
                   attribute("momentum", &Spec::momentum, real(kDecay)), attribute("nesterov", &Spec::nesterov),
                   attribute("weight-decay", &Spec::weight_decay, real(kNonNegative))},
                  {.kind = Spec::Kind::sgd, .learning_rate = 0.1})
          .check([](const Node& node, const ReadContext&, const Spec& sgd) {
            if (sgd.nesterov && sgd.momentum == 0)
              node.fail_at("nesterov", "needs momentum", "set a momentum above 0, e.g. momentum=\"0.9\"");
          });
  return kTable;
}

const Table<spec::OptimizerSpec>& optimizer_table(spec::OptimizerSpec::Kind kind) {
  using enum spec::OptimizerSpec::Kind;
  return kind == sgd     ? sgd_table()
         : kind == lars  ? lars_table()
         : kind == lamb  ? lamb_table()
         : kind == muon  ? muon_table()
         : kind == adamw ? adamw_table()
                         : adam_table();
}

const Table<spec::ScheduleSpec>& schedule_table() {
  using Spec = spec::ScheduleSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "schedule", "Schedule: a factor on the learning rate over time.",
          {attribute("kind", &Spec::kind), attribute("warm-up-epochs", &Spec::warm_up_epochs, real(kNonNegative)),
           attribute("milestones", &Spec::milestones, integers(1, 1'000'000))
               .only_with("kind", &Spec::kind, {Spec::Kind::steps}, "set kind=\"steps\", or remove it")
               .needed(),
           attribute("factor", &Spec::factor, real(kPositiveShare))
               .only_with("kind", &Spec::kind, {Spec::Kind::steps}, "set kind=\"steps\", or remove it"),
           attribute("final-factor", &Spec::final_factor, real(kShare))
               .only_with("kind", &Spec::kind, {Spec::Kind::cosine}, "set kind=\"cosine\", or remove it")})
          .check([](const Node& node, const ReadContext&, const Spec& schedule) {
            if (std::ranges::adjacent_find(schedule.milestones, std::greater_equal{}) != schedule.milestones.end())
              node.fail_at("milestones", "does not increase", "epochs in rising order, each once");
          });
  return kTable;
}

/// Reads one or several targets.
void read_targets(const Node& node, const ReadContext&, spec::TrainingSpec& training) {
  const std::vector<std::string> words = words_of(node.text("target-accuracy", ""));
  if (words.size() < 2) {
    training.target_accuracy = node.real("target-accuracy").value_or(training.target_accuracy);
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

std::string targets_text(const spec::TrainingSpec& training, const PathText&) {
  return fmt::format("{}", fmt::join(training.targets(), " "));
}

const Table<spec::TrainingSpec>& training_table() {
  using Spec = spec::TrainingSpec;
  static const Table<Spec> kTable =
      Table<Spec>(
          "training", "The training; at most one optimizer.",
          {attribute("batch", &Spec::batch, integer(1, 1'000'000)), attribute("batches", &Spec::batches),
           attribute("shuffle", &Spec::in_order, one_of({"yes", "no"}))
               .refused_if([](const Node&, const spec::TrainingSpec& training) -> std::optional<Fault> {
                 if (training.batches != spec::TrainingSpec::Batches::poisson) return std::nullopt;
                 return Fault{"has no effect: samples are drawn at random", "remove it, or batches=\"proportional\""};
               })
               .if_given(),
           attribute("epochs", &Spec::epochs, real(kPositive)),
           by_code<Spec>(attribute("target-accuracy", reals(kPositiveShare)), read_targets, targets_text),
           attribute("stop", &Spec::stop),
           attribute("evaluate-every", &Spec::evaluate_every, word_or_count("epoch", 1'000'000'000)),
           attribute("exact", &Spec::exact_once, one_of({"each", "once"})),
           attribute("seeds", &Spec::seeds, integer(1, 1000)),
           attribute("label-smoothing", &Spec::label_smoothing, real(kDecay)),
           attribute("leak-every", &Spec::leak_every, word_or_count("seldom", 1'000'000'000)).if_given(),
           within(&Spec::optimizer, attribute("clip-norm", &spec::OptimizerSpec::clip_norm,
                                              real({.minimum = 0, .maximum = 1e9, .open_minimum = true}))
                                        .if_given())
               .if_left_out("never")})
          .holds({"adam", "adamw", "sgd", "lamb", "lars", "muon", "schedule"});
  return kTable;
}

void read_optimizer(const Node& node, const ReadContext& context, spec::TrainingSpec& training) {
  const Element* first = nullptr;
  for (const Element& child : node.element().children) {
    const auto kind = spec::parse<spec::OptimizerSpec::Kind>(child.name);
    if (!kind) continue;
    spec::OptimizerSpec optimizer = optimizer_table(*kind).read(child, context);
    if (first == nullptr) {
      first = &child;
      optimizer.clip_norm = training.optimizer.clip_norm;
      training.optimizer = optimizer;
    } else if (first->name != child.name) {
      context.findings.add(child.origin, fmt::format("<{}> beside <{}>", child.name, first->name),
                           "keep at most one optimizer");
    }
  }
}

}  // namespace

spec::TrainingSpec read_training(const Element& element, std::size_t workers, std::int64_t samples,
                                 const ReadContext& context) {
  const Node node(element, context.findings);
  spec::TrainingSpec training;
  training_table().read(node, context, training);
  // A step takes batch × workers samples; an epoch is at least one step.
  const auto sites = static_cast<std::int64_t>(workers);
  if (sites > 0 && samples >= sites && training.batch * sites > samples) {
    node.fail_at("batch", fmt::format("for {} workers is more than the {} training samples", sites, samples),
                 fmt::format("at most {}", samples / sites));
  }
  read_optimizer(node, context, training);
  if (const Element* schedule = node.child("schedule")) training.schedule = schedule_table().read(*schedule, context);
  return training;
}

void write_training(XmlWriter& xml, const spec::TrainingSpec& training) {
  XmlWriter::Open element(xml, "training");
  training_table().print_attributes(element, training, {});
  optimizer_table(training.optimizer.kind).print(xml, training.optimizer, {});
  schedule_table().print(xml, training.schedule, {});
}

/// Prints the part of <training> that has an effect without learning: clip-norm and the optimizer.
void write_optimizer(XmlWriter& xml, const spec::OptimizerSpec& optimizer) {
  XmlWriter::Open element(xml, "training");
  if (optimizer.clip_norm > 0) element.set("clip-norm", optimizer.clip_norm);
  optimizer_table(optimizer.kind).print(xml, optimizer, {});
}

std::vector<ElementRule> training_rules() {
  return {training_table().rule(), adam_table().rule(), adamw_table().rule(), lamb_table().rule(),
          lars_table().rule(),     muon_table().rule(), sgd_table().rule(),   schedule_table().rule()};
}

}  // namespace dadsim::scenario
