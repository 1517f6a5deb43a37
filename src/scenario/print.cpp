#include "scenario/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "scenario/files.hpp"
#include "scenario/load.hpp"
#include "scenario/print_parts.hpp"
#include "scenario/print_platform.hpp"
#include "scenario/xml_writer.hpp"
#include "support/fingerprint.hpp"

namespace dadsim::scenario {
namespace {

using Open = XmlWriter::Open;

void write_network(XmlWriter& xml, const spec::NetworkSpec& network) {
  Open element(xml, "network");
  element.set("fidelity", to_string(network.fidelity));
  if (network.fidelity == spec::Fidelity::automatic) element.set("message-budget", network.message_budget);
  if (network.timed_steps > 0) element.set("timed-steps", network.timed_steps);
  element.set("rendezvous", network.rendezvous);
  Open(xml, "jitter").set("spatial", network.jitter.spatial).set("temporal", network.jitter.temporal);
}

void write_workers(XmlWriter& xml, const Scenario& scenario) {
  constexpr std::size_t kHostsPerElement = 100;
  const std::vector<spec::Placement>& devices = scenario.all_devices();
  Open workers(xml, "workers");
  workers.set("memory", scenario.ignore_memory ? "ignore" : "check");
  for (std::size_t i = 0; i < devices.size();) {
    const spec::Placement& one = devices[i];
    std::string hosts;
    for (const std::size_t first = i; i < devices.size() && i < first + kHostsPerElement; ++i) {
      const spec::Placement& next = devices[i];
      if (next.device != one.device || next.speed_spread != one.speed_spread) break;
      hosts += (hosts.empty() ? "" : " ") + in_host_list(next.host);
    }
    Open element(xml, "worker");
    element.set("hosts", hosts).set("device", one.device);
    if (one.speed_spread > 0) element.set("speed-spread", one.speed_spread);
  }
  if (scenario.aggregator)
    Open(xml, "aggregator")
        .set("host", in_host_list(scenario.aggregator->host))
        .set("device", scenario.aggregator->device);
}

void write_optimizer(XmlWriter& xml, const spec::OptimizerSpec& optimizer) {
  if (optimizer.kind == spec::OptimizerSpec::Kind::lars) {
    Open(xml, "lars")
        .set("learning-rate", optimizer.learning_rate)
        .set("momentum", optimizer.momentum)
        .set("trust", optimizer.trust)
        .set("weight-decay", optimizer.weight_decay);
  } else if (optimizer.kind == spec::OptimizerSpec::Kind::sgd) {
    Open(xml, "sgd")
        .set("learning-rate", optimizer.learning_rate)
        .set("momentum", optimizer.momentum)
        .set("nesterov", optimizer.nesterov)
        .set("weight-decay", optimizer.weight_decay);
  } else {
    Open(xml, optimizer.kind == spec::OptimizerSpec::Kind::lamb    ? "lamb"
              : optimizer.kind == spec::OptimizerSpec::Kind::adamw ? "adamw"
                                                                   : "adam")
        .set("learning-rate", optimizer.learning_rate)
        .set("beta1", optimizer.beta1)
        .set("beta2", optimizer.beta2)
        .set("epsilon", optimizer.epsilon)
        .set("weight-decay", optimizer.weight_decay);
  }
}

void write_training(XmlWriter& xml, const spec::TrainingSpec& training) {
  Open element(xml, "training");
  element.set("batch", training.batch)
      .set("batches", training.batches == spec::TrainingSpec::Batches::equal     ? "equal"
                      : training.batches == spec::TrainingSpec::Batches::poisson ? "poisson"
                                                                                 : "proportional")
      .set("epochs", training.epochs)
      .set("target-accuracy", fmt::format("{}", fmt::join(training.targets(), " ")))
      .set("stop", training.stop == spec::TrainingSpec::Stop::target ? "target" : "budget")
      .set("evaluate-every", training.evaluate_every == 0 ? "epoch" : std::to_string(training.evaluate_every))
      .set("exact", training.exact_once ? "once" : "each")
      .set("seeds", training.seeds);
  if (training.optimizer.clip_norm > 0) element.set("clip-norm", training.optimizer.clip_norm);
  write_optimizer(xml, training.optimizer);
  const spec::ScheduleSpec& schedule = training.schedule;
  Open kind(xml, "schedule");
  switch (schedule.kind) {
    case spec::ScheduleSpec::Kind::constant:
      kind.set("kind", "constant");
      break;
    case spec::ScheduleSpec::Kind::steps:
      kind.set("kind", "steps");
      break;
    case spec::ScheduleSpec::Kind::cosine:
      kind.set("kind", "cosine");
      break;
  }
  kind.set("warm-up-epochs", schedule.warm_up_epochs);
  if (schedule.kind == spec::ScheduleSpec::Kind::steps) {
    kind.set("milestones", fmt::format("{}", fmt::join(schedule.milestones, " "))).set("factor", schedule.factor);
  }
  if (schedule.kind == spec::ScheduleSpec::Kind::cosine) kind.set("final-factor", schedule.final_factor);
}

/// What stands in for data and model follows from the number of workers.
void write_timing_only(XmlWriter& xml, const spec::OptimizerSpec& optimizer) {
  Open(xml, "timing-only");
  Open element(xml, "training");
  if (optimizer.clip_norm > 0) element.set("clip-norm", optimizer.clip_norm);
  write_optimizer(xml, optimizer);
}

void write_parallelism(Open& element, const spec::ParallelismSpec& how) {
  if (how.tensor > 1) element.set("tensor", how.tensor).set("sequence-parallel", how.sequence_parallel);
  if (how.pipeline > 1) {
    element.set("pipeline", how.pipeline)
        .set("interleave", how.interleave)
        .set("schedule", how.order == spec::PipelineOrder::gpipe ? "gpipe" : "1f1b");
  }
  if (how.micro_batch > 0) element.set("micro-batch", how.micro_batch);
  if (how.recomputation != spec::Recomputation::none)
    element.set("recompute", how.recomputation == spec::Recomputation::full ? "full" : "selective");
  switch (how.sharding) {
    case spec::Sharding::none:
      break;
    case spec::Sharding::optimizer:
      element.set("sharding", "optimizer");
      break;
    case spec::Sharding::gradients:
      element.set("sharding", "gradients");
      break;
    case spec::Sharding::parameters:
      element.set("sharding", "parameters").set("prefetch", how.prefetch);
      break;
  }
}

void write_timed_as(XmlWriter& xml, const spec::TimedAsSpec& timed, const PathText& file) {
  Open element(xml, "timed-as");
  if (!timed.workload.empty()) element.set("workload", timed.workload);
  if (!timed.file.empty()) element.set("file", file(timed.file));
  element.set("batch", timed.batch).set("precision", to_string(timed.precision));
  if (timed.steps) element.set("steps", *timed.steps);
  if (timed.epochs) element.set("epochs", *timed.epochs);
  if (!timed.target.empty()) element.set("target", timed.target);
  if (timed.evaluation_every > 0)
    element.set("evaluation-every", timed.evaluation_every).set("evaluation-seconds", timed.evaluation_seconds);
  if (timed.of_other_network()) element.set_seconds("start-up", timed.start_up);
  write_parallelism(element, timed.parallelism);
  for (const auto& [name, value] : timed.sizes) element.set(name.c_str(), value);
  if (timed.attention != spec::Attention::plain) element.set("attention", to_string(timed.attention));
  if (timed.input_rate > 0) element.set("input-rate", timed.input_rate);
  if (timed.wide_gradients) element.set("gradients", "fp32");
  if (timed.loss_scaling) element.set("loss-scaling", timed.loss_scaling);
}

void write_compress(XmlWriter& xml, const spec::CompressSpec& spec) {
  if (spec == spec::CompressSpec{}) return;
  Open element(xml, "compress");
  element.set("method", spec.method);
  if (spec.method != "none") element.set("memory", spec.memory);
  if (spec.scope != spec::CompressSpec::Scope::layer) element.set("scope", to_string(spec.scope));
  for (const auto& [name, value] : spec.parameters) element.set(name.c_str(), value);
}

void write_share(XmlWriter& xml, const spec::RunSpec& run) {
  for (const spec::ShareRule& rule : run.share) {
    Open(xml, "share").set("layers", rule.layers).set("statistic", rule.statistic).set("every", rule.every);
  }
  if (!run.average_deltas_above.empty()) Open(xml, "average-deltas").set("above", run.average_deltas_above);
}

void write_parameters(Open& element, const spec::RunSpec& run, const PathText& file) {
  for (const auto& [name, value] : run.parameters) {
    const bool path = std::ranges::find(run.files, name) != run.files.end();
    if (!value.empty()) element.set(name.c_str(), path ? file(value) : value);
  }
}

void write_runs(XmlWriter& xml, const Scenario& scenario, const PathText& file) {
  for (const spec::RunSpec& run : scenario.runs) {
    Open element(xml, "run");
    element.set("algorithm", run.algorithm).set("label", run.label);
    if (run.communicates && !run.event_driven) {
      if (!run.decentralised) element.set("exchange", to_string(run.exchange));
      element.set("all-reduce", run.all_reduce).set("all-gather", run.all_gather);
      element.set("reduce-scatter", run.reduce_scatter).set_bytes("bucket", run.bucket_bytes);
      if (run.bucket_bytes > 0) element.set_bytes("first-bucket", run.first_bucket_bytes);
    }
    write_parameters(element, run, file);
    write_compress(xml, run.compress);
    write_share(xml, run);
  }
}

std::string contents_of(const std::string& path) { return fmt::format("{:016x}", fingerprint_file(path)); }

}  // namespace

std::string write_scenario(const Scenario& scenario, const PathText& file, bool with_questions) {
  XmlWriter xml;
  {
    Open root(xml, "scenario");
    root.set("name", scenario.name).set("seed", scenario.seed);
    if (!scenario.description.empty()) Open(xml, "description").content(scenario.description);
    write_platform(xml, scenario.platform, file);
    write_network(xml, scenario.network);
    write_failures(xml, scenario.failures, file);
    write_devices(xml, scenario.devices);
    write_workers(xml, scenario);
    if (scenario.stand_in) {
      write_timing_only(xml, scenario.training.optimizer);
    } else {
      write_data(xml, scenario.data, file);
      write_model(xml, scenario.model);
      write_training(xml, scenario.training);
    }
    if (scenario.timed_as) write_timed_as(xml, *scenario.timed_as, file);
    write_runs(xml, scenario, file);
    if (scenario.evaluation) write_evaluation(xml, *scenario.evaluation);
    if (scenario.costs) write_costs(xml, *scenario.costs);
    if (scenario.goal && with_questions) write_goal(xml, *scenario.goal);
    if (scenario.sweep && with_questions) write_sweep(xml, *scenario.sweep);
  }
  return xml.finish();
}

std::uint64_t hash_of(const Scenario& scenario) {
  std::uint64_t hash = fingerprint(write_scenario(scenario, contents_of, false));
  for (const std::string& file : scenario.platform_files) hash = fingerprint(contents_of(file), hash);
  return hash;
}

std::uint64_t problem_hash_of(const Scenario& scenario, std::uint64_t seed) {
  XmlWriter xml;
  {
    Open root(xml, "problem");
    root.set("seed", seed).set("workers", static_cast<std::int64_t>(scenario.workers.size()));
    write_data(xml, scenario.data, contents_of);
    write_model(xml, scenario.model);
  }
  return fingerprint(xml.finish());
}

std::uint64_t learning_problem_hash_of(const Scenario& scenario, std::uint64_t seed) {
  // How long is trained, and when it is evaluated, is no part of what one operation gives.
  spec::TrainingSpec training = scenario.training;
  training.seeds = 1;
  training.target_accuracy = 0;
  training.further_targets.clear();
  training.stop = spec::TrainingSpec::Stop::budget;
  training.evaluate_every = 0;
  // When data drift is known to who plays; what they become is part of each operation's name.
  Scenario timeless = scenario;
  for (spec::DriftSpec& drift : timeless.data.drifts) drift.at = 0;
  XmlWriter xml;
  {
    Open root(xml, "problem");
    root.set("seed", problem_hash_of(timeless, seed));
    write_training(xml, training);
  }
  return fingerprint(xml.finish());
}

std::uint64_t learning_hash_of(const Scenario& scenario, const spec::RunSpec& run, const spec::TrainingSpec& training,
                               std::uint64_t seed) {
  spec::TrainingSpec learned = training;
  learned.seeds = 1;
  learned.exact_once = false;  // whoever is learned beside another one has a key of both
  // A target matters to what is learned where learning ends with it, or where it is looked for between epochs.
  if (learned.evaluate_every > 0) {
    learned.target_accuracy = learned.stop == spec::TrainingSpec::Stop::budget ? 0 : learned.last_target();
    learned.further_targets.clear();
  }
  XmlWriter xml;
  {
    Open root(xml, "learning");
    if (scenario.timing_only) root.set("timing-only", true);
    root.set("seed", seed).set("workers", static_cast<std::int64_t>(scenario.workers.size()));
    write_data(xml, scenario.data, contents_of);
    write_model(xml, scenario.model);
    write_training(xml, learned);
    Open element(xml, "run");
    element.set("algorithm", run.algorithm);
    if (run.communicates) element.set("exchange", to_string(run.exchange));
    write_parameters(element, run, contents_of);
    write_compress(xml, run.compress);
    write_share(xml, run);
  }
  return fingerprint(xml.finish());
}

std::string print_scenario(const Scenario& scenario) {
  return write_scenario(scenario, [](const std::string& path) { return path; });
}

}  // namespace dadsim::scenario
