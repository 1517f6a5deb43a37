#include "study/catalog.hpp"

#include <stdexcept>

#include "algorithms/registry.hpp"
#include "collectives/collective.hpp"
#include "compress/registry.hpp"
#include "models/data/dataset.hpp"
#include "models/network.hpp"
#include "protocols/registry.hpp"
#include "sim/device.hpp"
#include "sim/platform.hpp"
#include "spec/model_shape.hpp"
#include "spec/workload.hpp"
#include "study/timed_as.hpp"

namespace dadsim::study {

namespace {

/// What an algorithm says of a run's rules, of the network that the model describes.
auto check_of(const algorithms::AlgorithmInfo& info) {
  return [&info](const spec::RunSpec& run, const spec::ModelSpec& model, const spec::SampleShape& sample) {
    std::vector<scenario::Catalog::ShareFault> faults;
    try {
      constexpr std::uint64_t kAnySeed = 1;
      const models::Network network(sample, model, kAnySeed);
      for (algorithms::ShareFault& fault : info.check_share(run, network)) {
        faults.push_back({fault.rule, std::move(fault.what), std::move(fault.remedy)});
      }
    } catch (const spec::ModelMistake&) {
      // Layers that do not fit are told of where they are read.
    }
    return faults;
  };
}

}  // namespace

scenario::Catalog make_catalog() {
  scenario::Catalog catalog;
  for (const algorithms::AlgorithmInfo& info : algorithms::algorithm_registry().all()) {
    const bool decentralised = info.sharing == algorithms::Sharing::own_weights;
    catalog.algorithms.push_back({.name = info.name,
                                  .parameters = info.parameters,
                                  .communicates = info.sharing == algorithms::Sharing::one_network || decentralised,
                                  .decentralised = decentralised,
                                  .remembers = !decentralised,
                                  .sends_gradients = info.sends_gradients,
                                  .sums_in_buckets = info.sums_in_buckets,
                                  .plain_sgd = info.optimizer == algorithms::Needs::plain_sgd,
                                  .adam = info.optimizer == algorithms::Needs::adam,
                                  .check = info.check,
                                  .check_model = info.check_model,
                                  .check_exchange = info.check_exchange,
                                  .compresses = info.compresses});
    if (info.check_share) catalog.algorithms.back().check_share = check_of(info);
  }
  for (const protocols::ProtocolInfo& info : protocols::protocol_registry().all()) {
    catalog.algorithms.push_back({.name = info.name,
                                  .parameters = info.parameters,
                                  .communicates = true,
                                  .decentralised = false,
                                  .event_driven = true,
                                  .remembers = info.remembers,
                                  .follows_drift = info.follows_drift,
                                  .needs_server = info.needs_server,
                                  .plain_sgd = info.plain_sgd,
                                  .check = info.check,
                                  .compresses = info.compresses});
  }
  for (const compress::CompressorInfo& info : compress::compressors().all()) {
    catalog.compressors.push_back({.name = info.name,
                                   .parameters = info.parameters,
                                   .lossless = info.lossless,
                                   .adapts = info.adapts,
                                   .biased = info.biased,
                                   .has_momentum = info.has_momentum});
  }
  for (const spec::DeviceSpec& device : sim::device_catalog().all()) catalog.devices.push_back(device.name);
  catalog.device_specs = sim::device_catalog().all();
  for (const spec::Workload& workload : spec::workload_registry().all()) {
    catalog.workloads.push_back(workload.name);
    catalog.workload_sizes[workload.name] = workload.parameters;
    if (workload.dataset_size > 0) catalog.dataset_sizes[workload.name] = workload.dataset_size;
  }
  catalog.check_workload = fault_of_workload;
  catalog.links = sim::link_catalog();
  catalog.all_reduces = catalog.all_gathers = {"auto"};
  for (const collectives::CollectiveAlgorithm& algorithm : collectives::collective_registry()) {
    if (algorithm.kind == step::CollectiveKind::all_reduce) catalog.all_reduces.push_back(algorithm.name);
    if (algorithm.kind == step::CollectiveKind::all_gather) catalog.all_gathers.push_back(algorithm.name);
  }
  catalog.regions = sim::region_names();
  catalog.region_pair = sim::region_pair;
  catalog.parse_unit = [](scenario::Catalog::Unit unit, const std::string& text) -> std::optional<double> {
    switch (unit) {
      case scenario::Catalog::Unit::seconds:
        return sim::parse_seconds(text);
      case scenario::Catalog::Unit::bytes:
        return sim::parse_bytes(text);
      case scenario::Catalog::Unit::bytes_per_second:
        return sim::parse_bytes_per_second(text);
      case scenario::Catalog::Unit::flops:
        return sim::parse_flops(text);
    }
    throw std::logic_error("unknown unit");
  };
  catalog.check_platform = [](const scenario::Catalog::PlatformQuestion& question) {
    sim::PlatformFindings findings = sim::check_platform(question.platform, question.hosts, question.pairs);
    return scenario::Catalog::PlatformAnswer{std::move(findings.file_errors), std::move(findings.host_errors),
                                             std::move(findings.route_errors)};
  };
  catalog.inspect_data = [](const spec::DataSource& source) {
    scenario::Catalog::DataAnswer answer;
    try {
      answer.facts = models::inspect_data(source);
    } catch (const InputError& error) {
      answer.errors = error.diagnostics();
    }
    return answer;
  };
  return catalog;
}

}  // namespace dadsim::study
