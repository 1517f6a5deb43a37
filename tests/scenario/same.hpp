#pragma once

#include <algorithm>
#include <optional>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "scenario/scenario.hpp"

namespace dadsim::test {

/// Compares two scenarios member by member. If a member is added, the structured bindings no longer compile, so the
/// comparison stays complete. (Static member functions can call one another in any order.)
struct Same {
  static bool same(const spec::FabricSpec& a, const spec::FabricSpec& b) {
    const auto& [kind, link, nodes_per_switch, oversubscription, adds_up, dimensions] = a;
    return std::tie(kind, link, nodes_per_switch, oversubscription, adds_up, dimensions) ==
           std::tie(b.kind, b.link, b.nodes_per_switch, b.oversubscription, b.adds_up, b.dimensions);
  }

  static bool same(const spec::GpuClusterSpec& a, const spec::GpuClusterSpec& b) {
    const auto& [name, nodes, gpus, inside, port, bridge, rails, nic, fabric, given, slot, slot_gpus, sockets, threads,
                 limit, mtu, more] = a;
    return std::tie(name, nodes, gpus, inside, port, bridge, rails, nic, given, slot, slot_gpus, sockets, threads,
                    limit, mtu, more) == std::tie(b.name, b.nodes, b.gpus, b.inside, b.port, b.bridge, b.rails, b.nic,
                                                  b.library_is_given, b.slot, b.slot_gpus, b.sockets, b.socket_threads,
                                                  b.flow_limit, b.mtu, b.more) &&
           same(fabric, b.fabric);
  }

  static bool same(const spec::FederationSpec::Sites& a, const spec::FederationSpec::Sites& b) {
    const auto& [name, count, numbered, up, down, bandwidth_spread, latency_spread] = a;
    return std::tie(name, count, numbered, up, down, bandwidth_spread, latency_spread) ==
           std::tie(b.name, b.count, b.numbered, b.up, b.down, b.bandwidth_spread, b.latency_spread);
  }

  static bool same(const spec::WanSpec::Region& a, const spec::WanSpec::Region& b) {
    const auto& [name, hosts] = a;
    return std::tie(name, hosts) == std::tie(b.name, b.hosts);
  }

  static bool same(const spec::WanSpec::Pair& a, const spec::WanSpec::Pair& b) {
    const auto& [from, to, bandwidth, round_trip, transport, queue_bytes, goodput, per_connection] = a;
    return std::tie(from, to, bandwidth, round_trip, transport, queue_bytes, goodput, per_connection) ==
           std::tie(b.from, b.to, b.bandwidth, b.round_trip, b.transport, b.queue_bytes, b.is_goodput,
                    b.per_connection);
  }

  template <class Value>
  static bool same(const std::vector<Value>& a, const std::vector<Value>& b) {
    return std::ranges::equal(a, b, [](const Value& x, const Value& y) { return same(x, y); });
  }

  template <class Value>
  static bool same(const std::optional<Value>& a, const std::optional<Value>& b) {
    return a.has_value() == b.has_value() && (!a || same(*a, *b));
  }

  static bool same(const spec::FederationSpec& a, const spec::FederationSpec& b) {
    const auto& [name, sites, seed, hub_up, hub_down] = a;
    return std::tie(name, hub_up, hub_down, seed) == std::tie(b.name, b.hub_up, b.hub_down, b.seed) &&
           same(sites, b.sites);
  }

  static bool same(const spec::WanSpec& a, const spec::WanSpec& b) {
    const auto& [name, regions, host, pairs] = a;
    return std::tie(name, host) == std::tie(b.name, b.host) && same(regions, b.regions) && same(pairs, b.pairs);
  }

  template <class... Kinds>
  static bool same(const std::variant<Kinds...>& a, const std::variant<Kinds...>& b) {
    return a.index() == b.index() &&
           std::visit([&](const auto& one) { return same(one, std::get<std::remove_cvref_t<decltype(one)>>(b)); }, a);
  }

  static bool same(const spec::CompositionSpec& a, const spec::CompositionSpec& b) {
    const auto& [clusters, pairs] = a;
    return std::ranges::equal(clusters, b.clusters, [](const auto& x, const auto& y) { return same(x, y); }) &&
           same(pairs, b.pairs);
  }

  static bool same(const spec::PlatformFileSpec& a, const spec::PlatformFileSpec& b) {
    const auto& [path, transport] = a;
    return std::tie(path, transport) == std::tie(b.path, b.transport);
  }

  static bool same(const spec::PlatformSpec::Profile& a, const spec::PlatformSpec::Profile& b) {
    const auto& [of, link, times, factors, period] = a;
    return std::tie(of, link, times, factors, period) == std::tie(b.of, b.link, b.times, b.factors, b.period);
  }

  static bool same(const spec::PlatformSpec::Background& a, const spec::PlatformSpec::Background& b) {
    const auto& [from, to, bytes, every] = a;
    return std::tie(from, to, bytes, every) == std::tie(b.from, b.to, b.bytes, b.every);
  }

  static bool same(const spec::PlatformSpec& a, const spec::PlatformSpec& b) {
    const auto& [description, what, profiles, background, changes] = a;
    return description == b.description && same(what, b.what) && same(profiles, b.profiles) &&
           same(background, b.background) &&
           std::ranges::equal(changes, b.changes, [](const spec::LinkChange& x, const spec::LinkChange& y) {
             const auto& [link, bandwidth_factor, latency_factor] = x;
             return std::tie(link, bandwidth_factor, latency_factor) ==
                    std::tie(y.link, y.bandwidth_factor, y.latency_factor);
           });
  }

  static bool same(const spec::DigitsSource& a, const spec::DigitsSource& b) {
    return a.train == b.train && a.test == b.test && a.scale == b.scale;
  }

  static bool same(const spec::IdxSource& a, const spec::IdxSource& b) {
    const auto& [images, labels, test_images, test_labels, train, test, scale] = a;
    return std::tie(images, labels, test_images, test_labels, train, test, scale) ==
           std::tie(b.images, b.labels, b.test_images, b.test_labels, b.train, b.test, b.scale);
  }

  static bool same(const spec::Cifar10Source& a, const spec::Cifar10Source& b) {
    const auto& [files, test_files, train, test, scale] = a;
    return std::tie(files, test_files, train, test, scale) == std::tie(b.files, b.test_files, b.train, b.test, b.scale);
  }

  static bool same(const spec::TsSource& a, const spec::TsSource& b) {
    const auto& [train_file, test_file, train, test, scale] = a;
    return std::tie(train_file, test_file, train, test, scale) ==
           std::tie(b.train_file, b.test_file, b.train, b.test, b.scale);
  }

  static bool same(const spec::CsvSource& a, const spec::CsvSource& b) {
    const auto& [file, target, site_files, site, ignore, names, test_file, test_share, train, test, scale] = a;
    return std::tie(file, target, site_files, site, ignore, names, test_file, test_share, train, test, scale) ==
           std::tie(b.file, b.target, b.site_files, b.site, b.ignore, b.names, b.test_file, b.test_share, b.train,
                    b.test, b.scale);
  }

  static bool same(const spec::TextSource& a, const spec::TextSource& b) {
    const auto& [file, length, test_share, train, test] = a;
    return std::tie(file, length, test_share, train, test) == std::tie(b.file, b.length, b.test_share, b.train, b.test);
  }

  static bool same(const spec::ShapesSource& a, const spec::ShapesSource& b) {
    const auto& [train, test, scale] = a;
    return std::tie(train, test, scale) == std::tie(b.train, b.test, b.scale);
  }

  static bool same(const spec::UtterancesSource& a, const spec::UtterancesSource& b) {
    const auto& [length, train, test, scale] = a;
    return std::tie(length, train, test, scale) == std::tie(b.length, b.train, b.test, b.scale);
  }

  static bool same(const spec::GrammarSource& a, const spec::GrammarSource& b) {
    const auto& [length, train, test] = a;
    return std::tie(length, train, test) == std::tie(b.length, b.train, b.test);
  }

  static bool same(const spec::TabularSource& a, const spec::TabularSource& b) {
    const auto& [features, classes, noise, train, test, scale] = a;
    return std::tie(features, classes, noise, train, test, scale) ==
           std::tie(b.features, b.classes, b.noise, b.train, b.test, b.scale);
  }

  static bool same(const spec::ShiftSpec& a, const spec::ShiftSpec& b) {
    const auto& [gain, offset, noise] = a;
    return std::tie(gain, offset, noise) == std::tie(b.gain, b.offset, b.noise);
  }

  static bool same(const spec::SplitSpec& a, const spec::SplitSpec& b) {
    const auto& [kind, alpha, shards, sizes, size_spread, size_exponent] = a;
    return std::tie(kind, alpha, shards, sizes, size_spread, size_exponent) ==
           std::tie(b.kind, b.alpha, b.shards, b.sizes, b.size_spread, b.size_exponent);
  }

  static bool same(const spec::DriftSpec& a, const spec::DriftSpec& b) {
    const auto& [sites, workers, at, corrupts, corruption, severity, label_alpha] = a;
    return std::tie(sites, workers, at, corrupts, corruption, severity, label_alpha) ==
           std::tie(b.sites, b.workers, b.at, b.corrupts, b.corruption, b.severity, b.label_alpha);
  }

  static bool same(const spec::DataSpec& a, const spec::DataSpec& b) {
    const auto& [source, split, shift, drifts] = a;
    return same(source, b.source) && same(split, b.split) && same(shift, b.shift) && same(drifts, b.drifts);
  }

  static bool same(const spec::OptimizerSpec& a, const spec::OptimizerSpec& b) {
    const auto& [kind, learning_rate, momentum, nesterov, weight_decay, beta1, beta2, epsilon, trust, clip_norm, scale,
                 coefficients, adam_rate] = a;
    return std::tie(kind, learning_rate, momentum, nesterov, weight_decay, beta1, beta2, epsilon, trust, clip_norm,
                    scale, coefficients, adam_rate) == std::tie(b.kind, b.learning_rate, b.momentum, b.nesterov,
                                                                b.weight_decay, b.beta1, b.beta2, b.epsilon, b.trust,
                                                                b.clip_norm, b.scale, b.coefficients, b.adam_rate);
  }

  static bool same(const spec::ScheduleSpec& a, const spec::ScheduleSpec& b) {
    const auto& [kind, warm_up_epochs, milestones, factor, final_factor] = a;
    return std::tie(kind, warm_up_epochs, milestones, factor, final_factor) ==
           std::tie(b.kind, b.warm_up_epochs, b.milestones, b.factor, b.final_factor);
  }

  static bool same(const spec::TrainingSpec& a, const spec::TrainingSpec& b) {
    const auto& [batch, batches, in_order, epochs, target_accuracy, further_targets, stop, evaluate_every,
                 label_smoothing, optimizer, schedule, seeds, exact_once, leak_every] = a;
    return std::tie(batch, batches, in_order, epochs, target_accuracy, further_targets, stop, evaluate_every,
                    label_smoothing, seeds, exact_once, leak_every) ==
               std::tie(b.batch, b.batches, b.in_order, b.epochs, b.target_accuracy, b.further_targets, b.stop,
                        b.evaluate_every, b.label_smoothing, b.seeds, b.exact_once, b.leak_every) &&
           same(optimizer, b.optimizer) && same(schedule, b.schedule);
  }

  static bool same(const spec::RunSpec& a, const spec::RunSpec& b) {
    const auto& [algorithm, label, exchange, parameters, all_reduce, all_gather, reduce_scatter, bucket_bytes,
                 communicates, first_bucket_bytes, compress, decentralised, event_driven, share, average_deltas_above,
                 files, weights, conditions, absence, exchange_named] = a;
    static_cast<void>(exchange_named);  // printing a scenario makes the default explicit
    return std::tie(algorithm, label, exchange, parameters, all_reduce, all_gather, reduce_scatter, bucket_bytes,
                    communicates, first_bucket_bytes, decentralised, event_driven, share, average_deltas_above) ==
               std::tie(b.algorithm, b.label, b.exchange, b.parameters, b.all_reduce, b.all_gather, b.reduce_scatter,
                        b.bucket_bytes, b.communicates, b.first_bucket_bytes, b.decentralised, b.event_driven, b.share,
                        b.average_deltas_above) &&
           compress == b.compress && files == b.files && weights == b.weights && conditions == b.conditions &&
           absence == b.absence;
  }

  static bool same(const spec::TimedAsSpec& a, const spec::TimedAsSpec& b) {
    const auto& [workload, batch, precision, file, own_shape, own_dataset_size, steps, epochs, samples, tokens, target,
                 evaluation_every, evaluation_seconds, start_up, parallelism, sizes, attention, adapters, adapted,
                 input_rate, wide_gradients, no_masters, moments, loss_scaling, program, operator_seconds] = a;
    return std::tie(workload, batch, precision, file, own_shape, own_dataset_size, steps, epochs, samples, tokens,
                    target, evaluation_every, evaluation_seconds, start_up, parallelism, sizes, attention, adapters,
                    adapted, input_rate, wide_gradients, no_masters, moments, loss_scaling, program,
                    operator_seconds) ==
           std::tie(b.workload, b.batch, b.precision, b.file, b.own_shape, b.own_dataset_size, b.steps, b.epochs,
                    b.samples, b.tokens, b.target, b.evaluation_every, b.evaluation_seconds, b.start_up, b.parallelism,
                    b.sizes, b.attention, b.adapters, b.adapted, b.input_rate, b.wide_gradients, b.no_masters,
                    b.moments, b.loss_scaling, b.program, b.operator_seconds);
  }

  static bool same(const spec::KindEfficiency& a, const spec::KindEfficiency& b) {
    const auto& [kind, precision, share, source] = a;
    return std::tie(kind, precision, share, source) == std::tie(b.kind, b.precision, b.share, b.source);
  }

  static bool same(const spec::DeviceSpec& a, const spec::DeviceSpec& b) {
    const auto& [name, description, peak_flops, memory_bandwidth, matrix_efficiency, memory_efficiency, launch_overhead,
                 source, step_seconds, tf32_flops, fp16_flops, bf16_flops, memory_bytes, power, ramp_seconds, tile_rows,
                 winograd_share, efficiencies, fp8_flops, fp4_flops, slowdown, library, generation, kernels] = a;
    return std::tie(name, description, peak_flops, memory_bandwidth, matrix_efficiency, memory_efficiency,
                    launch_overhead, source, step_seconds, tf32_flops, fp16_flops, bf16_flops, memory_bytes, power,
                    ramp_seconds, tile_rows, winograd_share, fp8_flops, fp4_flops, slowdown, library, generation,
                    kernels) == std::tie(b.name, b.description, b.peak_flops, b.memory_bandwidth, b.matrix_efficiency,
                                         b.memory_efficiency, b.launch_overhead, b.source, b.step_seconds, b.tf32_flops,
                                         b.fp16_flops, b.bf16_flops, b.memory_bytes, b.power, b.ramp_seconds,
                                         b.tile_rows, b.winograd_share, b.fp8_flops, b.fp4_flops, b.slowdown, b.library,
                                         b.generation, b.kernels) &&
           same(efficiencies, b.efficiencies);
  }

  static bool same(const spec::NetworkSpec& a, const spec::NetworkSpec& b) {
    const auto& [fidelity, message_budget, timed_steps, rendezvous, streams, window, jitter] = a;
    const auto& [spatial, temporal] = jitter;
    return std::tie(fidelity, message_budget, timed_steps, rendezvous, streams, window, spatial, temporal) ==
           std::tie(b.fidelity, b.message_budget, b.timed_steps, b.rendezvous, b.streams, b.window, b.jitter.spatial,
                    b.jitter.temporal);
  }

  static bool same(const spec::Placement& a, const spec::Placement& b) {
    const auto& [host, device, speed_spread, speed] = a;
    return std::tie(host, device, speed_spread, speed) == std::tie(b.host, b.device, b.speed_spread, b.speed);
  }

  static bool same(const spec::GoalSpec& a, const spec::GoalSpec& b) {
    const auto& [accuracy, seconds, money, joules, carbon, memory, watts, devices, throughput, scaling, objective,
                 against, run, allowed, layouts] = a;
    return std::tie(accuracy, seconds, money, joules, carbon, memory, watts, devices, throughput, scaling, objective,
                    against, run) == std::tie(b.accuracy, b.seconds, b.money, b.joules, b.carbon, b.memory, b.watts,
                                              b.devices, b.throughput, b.scaling, b.objective, b.against, b.run) &&
           layouts.has_value() == b.layouts.has_value() &&
           (!layouts || layouts->global_batch == b.layouts->global_batch) &&
           std::ranges::equal(allowed, b.allowed, [](const spec::AllowedChange& x, const spec::AllowedChange& y) {
             return same(x.varied, y.varied) && x.prefers_least == y.prefers_least;
           });
  }

  static bool same(const spec::CostSpec& a, const spec::CostSpec& b) {
    const auto& [currency, provider, term, price_date, prices, lines, egress_per_gb, egress_links, electricity, carbon,
                 overhead, purchase, rent, spot, network_energy] = a;
    return std::tie(currency, provider, term, price_date, egress_per_gb, egress_links, electricity, carbon, overhead,
                    purchase, rent, spot, network_energy) ==
               std::tie(b.currency, b.provider, b.term, b.price_date, b.egress_per_gb, b.egress_links, b.electricity,
                        b.carbon, b.overhead, b.purchase, b.rent, b.spot, b.network_energy) &&
           std::ranges::equal(lines, b.lines,
                              [](const spec::CostSpec::LinePrice& x, const spec::CostSpec::LinePrice& y) {
                                const auto& [link, per_mbps_month] = x;
                                return std::tie(link, per_mbps_month) == std::tie(y.link, y.per_mbps_month);
                              }) &&
           std::ranges::equal(prices, b.prices, [](const spec::CostSpec::Price& x, const spec::CostSpec::Price& y) {
             const auto& [device, per_hour, idle_power] = x;
             return std::tie(device, per_hour, idle_power) == std::tie(y.device, y.per_hour, y.idle_power);
           });
  }

  /// Compares all members but the number of the line.
  static bool same(const spec::VariedPath& a, const spec::VariedPath& b) {
    const auto& [path, values, from, to, steps, logarithmic, whole, form, line] = a;
    static_cast<void>(line);
    return std::tie(path, values, from, to, steps, logarithmic, whole, form) ==
           std::tie(b.path, b.values, b.from, b.to, b.steps, b.logarithmic, b.whole, b.form);
  }

  static bool same(const spec::SweepSpec& a, const spec::SweepSpec& b) {
    const auto& [method, points, seed, seeds, axes] = a;
    return std::tie(method, points, seed, seeds) == std::tie(b.method, b.points, b.seed, b.seeds) &&
           std::ranges::equal(axes, b.axes,
                              [](const spec::SweepAxis& x, const spec::SweepAxis& y) { return same(x, y); });
  }

  static bool same(const spec::ScaleStudySpec& a, const spec::ScaleStudySpec& b) {
    const auto& [against, level, hold_out, rungs] = a;
    return std::tie(against, level, hold_out) == std::tie(b.against, b.level, b.hold_out) && same(rungs, b.rungs);
  }

  /// Compares all members but the path of the file.
  static bool same(const scenario::Scenario& a, const scenario::Scenario& b) {
    const auto& [file, name, description, seed, platform, platform_files, network, framework, failures, devices,
                 workers, devices_of_workers, aggregator, data, model, training, timed_as, recorded, timing_only,
                 stand_in, payload, runs, hash, metric, ignore_memory, sweep, costs, evaluation, goal, scale_study,
                 ladder] = a;
    static_cast<void>(file);
    return std::tie(name, description, seed, hash, metric, ignore_memory, platform_files, timing_only, stand_in,
                    ladder) == std::tie(b.name, b.description, b.seed, b.hash, b.metric, b.ignore_memory,
                                        b.platform_files, b.timing_only, b.stand_in, b.ladder) &&
           same(platform, b.platform) && same(network, b.network) && same(devices, b.devices) &&
           same(workers, b.workers) && same(devices_of_workers, b.devices_of_workers) &&
           same(aggregator, b.aggregator) && same(data, b.data) && model == b.model && same(training, b.training) &&
           same(timed_as, b.timed_as) && same(runs, b.runs) && same(sweep, b.sweep) && same(costs, b.costs) &&
           evaluation == b.evaluation && same(goal, b.goal) && same(scale_study, b.scale_study) &&
           failures == b.failures && framework == b.framework && payload == b.payload &&
           (recorded == nullptr) == (b.recorded == nullptr) && (recorded == nullptr || *recorded == *b.recorded);
  }
};

}  // namespace dadsim::test
