#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "scenario/scenario.hpp"

namespace dadsim::test {

/// Whether two scenarios are the same, member by member. The structured bindings fail to compile when a member is
/// added, so that none is forgotten. (Members of a class, so that each finds all the others.)
struct Same {
  static bool same(const FabricSpec& a, const FabricSpec& b) {
    const auto& [kind, link, nodes_per_switch, oversubscription, dimensions] = a;
    return std::tie(kind, link, nodes_per_switch, oversubscription, dimensions) ==
           std::tie(b.kind, b.link, b.nodes_per_switch, b.oversubscription, b.dimensions);
  }

  static bool same(const GpuClusterSpec& a, const GpuClusterSpec& b) {
    const auto& [name, nodes, gpus, inside, port, bridge, rails, nic, fabric] = a;
    return std::tie(name, nodes, gpus, inside, port, bridge, rails, nic) ==
               std::tie(b.name, b.nodes, b.gpus, b.inside, b.port, b.bridge, b.rails, b.nic) &&
           same(fabric, b.fabric);
  }

  static bool same(const FederationSpec::Sites& a, const FederationSpec::Sites& b) {
    const auto& [name, count, numbered, up, down] = a;
    return std::tie(name, count, numbered, up, down) == std::tie(b.name, b.count, b.numbered, b.up, b.down);
  }

  static bool same(const WanSpec::Region& a, const WanSpec::Region& b) {
    const auto& [name, hosts] = a;
    return std::tie(name, hosts) == std::tie(b.name, b.hosts);
  }

  static bool same(const WanSpec::Pair& a, const WanSpec::Pair& b) {
    const auto& [from, to, bandwidth, round_trip, transport] = a;
    return std::tie(from, to, bandwidth, round_trip, transport) ==
           std::tie(b.from, b.to, b.bandwidth, b.round_trip, b.transport);
  }

  template <class Value>
  static bool same(const std::vector<Value>& a, const std::vector<Value>& b) {
    return std::ranges::equal(a, b, [](const Value& x, const Value& y) { return same(x, y); });
  }

  template <class Value>
  static bool same(const std::optional<Value>& a, const std::optional<Value>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
  }

  static bool same(const FederationSpec& a, const FederationSpec& b) {
    const auto& [name, sites, hub_up, hub_down] = a;
    return std::tie(name, hub_up, hub_down) == std::tie(b.name, b.hub_up, b.hub_down) && same(sites, b.sites);
  }

  static bool same(const WanSpec& a, const WanSpec& b) {
    const auto& [name, regions, host, pairs] = a;
    return std::tie(name, host) == std::tie(b.name, b.host) && same(regions, b.regions) && same(pairs, b.pairs);
  }

  template <class... Kinds>
  static bool same(const std::variant<Kinds...>& a, const std::variant<Kinds...>& b) {
    return a.index() == b.index() &&
           std::visit([&](const auto& one) { return same(one, std::get<std::remove_cvref_t<decltype(one)>>(b)); }, a);
  }

  static bool same(const CompositionSpec& a, const CompositionSpec& b) {
    const auto& [clusters, pairs] = a;
    return std::ranges::equal(clusters, b.clusters, [](const auto& x, const auto& y) { return same(x, y); }) &&
           same(pairs, b.pairs);
  }

  static bool same(const PlatformFileSpec& a, const PlatformFileSpec& b) {
    const auto& [path, transport] = a;
    return std::tie(path, transport) == std::tie(b.path, b.transport);
  }

  static bool same(const PlatformSpec::Profile& a, const PlatformSpec::Profile& b) {
    const auto& [of, link, times, factors, period] = a;
    return std::tie(of, link, times, factors, period) == std::tie(b.of, b.link, b.times, b.factors, b.period);
  }

  static bool same(const PlatformSpec::Background& a, const PlatformSpec::Background& b) {
    const auto& [from, to, bytes, every] = a;
    return std::tie(from, to, bytes, every) == std::tie(b.from, b.to, b.bytes, b.every);
  }

  static bool same(const PlatformSpec& a, const PlatformSpec& b) {
    const auto& [description, what, profiles, background] = a;
    return description == b.description && same(what, b.what) && same(profiles, b.profiles) &&
           same(background, b.background);
  }

  static bool same(const DigitsSource& a, const DigitsSource& b) { return a.train == b.train && a.test == b.test; }

  static bool same(const IdxSource& a, const IdxSource& b) {
    const auto& [images, labels, test_images, test_labels, train, test] = a;
    return std::tie(images, labels, test_images, test_labels, train, test) ==
           std::tie(b.images, b.labels, b.test_images, b.test_labels, b.train, b.test);
  }

  static bool same(const SplitSpec& a, const SplitSpec& b) {
    const auto& [kind, alpha, shards, sizes] = a;
    return std::tie(kind, alpha, shards, sizes) == std::tie(b.kind, b.alpha, b.shards, b.sizes);
  }

  static bool same(const DataSpec& a, const DataSpec& b) {
    const auto& [source, split] = a;
    if (source.index() != b.source.index() || !same(split, b.split)) return false;
    if (const auto* digits = std::get_if<DigitsSource>(&source)) return same(*digits, std::get<DigitsSource>(b.source));
    return same(std::get<IdxSource>(source), std::get<IdxSource>(b.source));
  }

  static bool same(const DenseSpec& a, const DenseSpec& b) {
    const auto& [units, activation, bias] = a;
    return std::tie(units, activation, bias) == std::tie(b.units, b.activation, b.bias);
  }

  static bool same(const OptimizerSpec& a, const OptimizerSpec& b) {
    const auto& [kind, learning_rate, momentum, nesterov, weight_decay, beta1, beta2, epsilon] = a;
    return std::tie(kind, learning_rate, momentum, nesterov, weight_decay, beta1, beta2, epsilon) ==
           std::tie(b.kind, b.learning_rate, b.momentum, b.nesterov, b.weight_decay, b.beta1, b.beta2, b.epsilon);
  }

  static bool same(const ScheduleSpec& a, const ScheduleSpec& b) {
    const auto& [kind, warm_up_epochs, milestones, factor, final_factor] = a;
    return std::tie(kind, warm_up_epochs, milestones, factor, final_factor) ==
           std::tie(b.kind, b.warm_up_epochs, b.milestones, b.factor, b.final_factor);
  }

  static bool same(const TrainingSpec& a, const TrainingSpec& b) {
    const auto& [batch, batches, epochs, target_accuracy, stop, evaluate_every, optimizer, schedule] = a;
    return std::tie(batch, batches, epochs, target_accuracy, stop, evaluate_every) ==
               std::tie(b.batch, b.batches, b.epochs, b.target_accuracy, b.stop, b.evaluate_every) &&
           same(optimizer, b.optimizer) && same(schedule, b.schedule);
  }

  static bool same(const RunSpec& a, const RunSpec& b) {
    const auto& [algorithm, label, topology, parameters, all_reduce, all_gather, bucket_bytes, communicates] = a;
    return std::tie(algorithm, label, topology, parameters, all_reduce, all_gather, bucket_bytes, communicates) ==
           std::tie(b.algorithm, b.label, b.topology, b.parameters, b.all_reduce, b.all_gather, b.bucket_bytes,
                    b.communicates);
  }

  static bool same(const TimedAsSpec& a, const TimedAsSpec& b) {
    const auto& [workload, batch] = a;
    return std::tie(workload, batch) == std::tie(b.workload, b.batch);
  }

  static bool same(const DeviceSpec& a, const DeviceSpec& b) {
    const auto& [name, description, peak_flops, memory_bandwidth, matrix_efficiency, memory_efficiency, launch_overhead,
                 source, step_seconds] = a;
    return std::tie(name, description, peak_flops, memory_bandwidth, matrix_efficiency, memory_efficiency,
                    launch_overhead, source, step_seconds) ==
           std::tie(b.name, b.description, b.peak_flops, b.memory_bandwidth, b.matrix_efficiency, b.memory_efficiency,
                    b.launch_overhead, b.source, b.step_seconds);
  }

  static bool same(const NetworkSpec& a, const NetworkSpec& b) {
    const auto& [fidelity, message_budget, rendezvous, jitter] = a;
    const auto& [spatial, temporal] = jitter;
    return std::tie(fidelity, message_budget, rendezvous, spatial, temporal) ==
           std::tie(b.fidelity, b.message_budget, b.rendezvous, b.jitter.spatial, b.jitter.temporal);
  }

  static bool same(const Placement& a, const Placement& b) {
    const auto& [host, device] = a;
    return std::tie(host, device) == std::tie(b.host, b.device);
  }

  /// All but the path it was read from.
  static bool same(const Scenario& a, const Scenario& b) {
    const auto& [file, name, description, seed, platform, network, devices, workers, aggregator, data, model, training,
                 timed_as, runs, hash] = a;
    static_cast<void>(file);
    return std::tie(name, description, seed, hash) == std::tie(b.name, b.description, b.seed, b.hash) &&
           same(platform, b.platform) && same(network, b.network) && same(devices, b.devices) &&
           same(workers, b.workers) && same(aggregator, b.aggregator) && same(data, b.data) &&
           same(model.layers, b.model.layers) && same(training, b.training) && same(timed_as, b.timed_as) &&
           same(runs, b.runs);
  }
};

}  // namespace dadsim::test
