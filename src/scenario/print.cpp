#include "scenario/print.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenario/files.hpp"
#include "scenario/load.hpp"
#include "scenario/print_platform.hpp"
#include "scenario/xml_writer.hpp"
#include "support/fingerprint.hpp"

namespace dadsim {
namespace {

using Open = XmlWriter::Open;
using PathText = std::function<std::string(const std::string&)>;

void write_network(XmlWriter& xml, const NetworkSpec& network) {
  Open element(xml, "network");
  element.set("fidelity", to_string(network.fidelity));
  if (network.fidelity == Fidelity::automatic) element.set("message-budget", network.message_budget);
  element.set("rendezvous", network.rendezvous);
  Open(xml, "jitter").set("spatial", network.jitter.spatial).set("temporal", network.jitter.temporal);
}

void write_devices(XmlWriter& xml, const std::vector<DeviceSpec>& devices) {
  for (const DeviceSpec& device : devices) {
    Open element(xml, "device");
    element.set("name", device.name);
    if (!device.description.empty()) element.set("description", device.description);
    element
        .set("peak-flops", fmt::format("{}f", device.peak_flops))  // SimGrid's f stands for a factor of one
        .set_bandwidth("memory-bandwidth", device.memory_bandwidth)
        .set("matrix-efficiency", device.matrix_efficiency)
        .set("memory-efficiency", device.memory_efficiency)
        .set_seconds("launch-overhead", device.launch_overhead);
    if (device.step_seconds > 0) element.set_seconds("step-time", device.step_seconds);
  }
}

void write_workers(XmlWriter& xml, const Scenario& scenario) {
  constexpr std::size_t kHostsPerElement = 100;
  const Open workers(xml, "workers");
  for (std::size_t i = 0; i < scenario.workers.size();) {
    const std::string& device = scenario.workers[i].device;
    std::string hosts;
    for (std::size_t first = i;
         i < scenario.workers.size() && scenario.workers[i].device == device && i < first + kHostsPerElement; ++i) {
      hosts += (hosts.empty() ? "" : " ") + scenario.workers[i].host;
    }
    Open(xml, "worker").set("hosts", hosts).set("device", device);
  }
  if (scenario.aggregator)
    Open(xml, "aggregator").set("host", scenario.aggregator->host).set("device", scenario.aggregator->device);
}

void write_split(XmlWriter& xml, const SplitSpec& split) {
  Open element(xml, "split");
  switch (split.kind) {
    case SplitSpec::Kind::iid:
      element.set("by", "iid");
      break;
    case SplitSpec::Kind::by_class:
      element.set("by", "class");
      break;
    case SplitSpec::Kind::dirichlet:
      element.set("by", "dirichlet").set("alpha", split.alpha);
      break;
    case SplitSpec::Kind::shards:
      element.set("by", "shards").set("shards", split.shards);
      break;
    case SplitSpec::Kind::sizes:
      element.set("by", "sizes").set("sizes", fmt::format("{}", fmt::join(split.sizes, " ")));
      break;
  }
}

void write_data(XmlWriter& xml, const DataSpec& data, const PathText& file) {
  const Open element(xml, "data");
  if (const auto* idx = std::get_if<IdxSource>(&data.source)) {
    Open source(xml, "idx");
    source.set("images", file(idx->images)).set("labels", file(idx->labels));
    if (!idx->test_images.empty())
      source.set("test-images", file(idx->test_images)).set("test-labels", file(idx->test_labels));
    source.set("train", idx->train).set("test", idx->test);
  } else {
    const auto& digits = std::get<DigitsSource>(data.source);
    Open(xml, "digits").set("train", digits.train).set("test", digits.test);
  }
  write_split(xml, data.split);
}

void write_model(XmlWriter& xml, const ModelSpec& model) {
  const Open element(xml, "model");
  for (const DenseSpec& layer : model.layers) {
    Open(xml, "dense").set("units", layer.units).set("activation", to_string(layer.activation)).set("bias", layer.bias);
  }
}

void write_training(XmlWriter& xml, const TrainingSpec& training) {
  Open element(xml, "training");
  element.set("batch", training.batch)
      .set("batches", training.batches == TrainingSpec::Batches::equal ? "equal" : "proportional")
      .set("epochs", training.epochs)
      .set("target-accuracy", training.target_accuracy)
      .set("stop", training.stop == TrainingSpec::Stop::target ? "target" : "budget")
      .set("evaluate-every", training.evaluate_every == 0 ? "epoch" : std::to_string(training.evaluate_every));
  const OptimizerSpec& optimizer = training.optimizer;
  if (optimizer.kind == OptimizerSpec::Kind::sgd) {
    Open(xml, "sgd")
        .set("learning-rate", optimizer.learning_rate)
        .set("momentum", optimizer.momentum)
        .set("nesterov", optimizer.nesterov)
        .set("weight-decay", optimizer.weight_decay);
  } else {
    Open(xml, optimizer.kind == OptimizerSpec::Kind::adamw ? "adamw" : "adam")
        .set("learning-rate", optimizer.learning_rate)
        .set("beta1", optimizer.beta1)
        .set("beta2", optimizer.beta2)
        .set("epsilon", optimizer.epsilon)
        .set("weight-decay", optimizer.weight_decay);
  }
  const ScheduleSpec& schedule = training.schedule;
  Open kind(xml, "schedule");
  switch (schedule.kind) {
    case ScheduleSpec::Kind::constant:
      kind.set("kind", "constant");
      break;
    case ScheduleSpec::Kind::steps:
      kind.set("kind", "steps");
      break;
    case ScheduleSpec::Kind::cosine:
      kind.set("kind", "cosine");
      break;
  }
  kind.set("warm-up-epochs", schedule.warm_up_epochs);
  if (schedule.kind == ScheduleSpec::Kind::steps) {
    kind.set("milestones", fmt::format("{}", fmt::join(schedule.milestones, " "))).set("factor", schedule.factor);
  }
  if (schedule.kind == ScheduleSpec::Kind::cosine) kind.set("final-factor", schedule.final_factor);
}

void write_runs(XmlWriter& xml, const Scenario& scenario) {
  for (const RunSpec& run : scenario.runs) {
    Open element(xml, "run");
    element.set("algorithm", run.algorithm).set("label", run.label);
    if (run.communicates) {
      element.set("exchange", to_string(run.topology))
          .set("all-reduce", run.all_reduce)
          .set("all-gather", run.all_gather)
          .set_bytes("bucket", run.bucket_bytes);
    }
    for (const auto& [name, value] : run.parameters) element.set(name.c_str(), value);
  }
}

}  // namespace

std::string write_scenario(const Scenario& scenario, const PathText& file) {
  XmlWriter xml;
  {
    Open root(xml, "scenario");
    root.set("name", scenario.name).set("seed", scenario.seed);
    if (!scenario.description.empty()) Open(xml, "description").content(scenario.description);
    write_platform(xml, scenario.platform, file);
    write_network(xml, scenario.network);
    write_devices(xml, scenario.devices);
    write_workers(xml, scenario);
    write_data(xml, scenario.data, file);
    write_model(xml, scenario.model);
    write_training(xml, scenario.training);
    if (scenario.timed_as)
      Open(xml, "timed-as").set("workload", scenario.timed_as->workload).set("batch", scenario.timed_as->batch);
    write_runs(xml, scenario);
  }
  return xml.finish();
}

std::uint64_t hash_of(const Scenario& scenario) {
  return fingerprint(
      write_scenario(scenario, [](const std::string& path) { return fmt::format("{:016x}", fingerprint_file(path)); }));
}

std::string print_scenario(const Scenario& scenario) {
  return write_scenario(scenario, [](const std::string& path) { return path; });
}

}  // namespace dadsim
