#include "algorithms/algorithm.hpp"

#include <algorithm>

#include "algorithms/gossip/own_weights_step.hpp"
#include "algorithms/step/training_step.hpp"
#include "compress/registry.hpp"
#include "models/network.hpp"

namespace dadsim::algorithms {

std::unique_ptr<Algorithm> make_algorithm(const SynchronousMethod& method, const spec::RunSpec& run) {
  return std::get<0>(method.make)(run);
}

std::unique_ptr<Algorithm> make_algorithm(const SynchronousMethod& method, const spec::ParameterValues& values) {
  return make_algorithm(method, run_of(method, values));
}

std::unique_ptr<GossipAlgorithm> make_gossip(const SynchronousMethod& method, const spec::RunSpec& run) {
  return std::get<1>(method.make)(run);
}

std::optional<models::Network> network_of(const RunFacts& facts) {
  if (facts.model == nullptr || facts.model->layers.empty()) return std::nullopt;
  try {
    return models::Network(facts.sample, *facts.model, facts.seed);
  } catch (const spec::ModelMistake&) {
    return std::nullopt;  // the reader reports layers that do not fit
  }
}

bool compresses_gradients(const MethodInfo& info, const spec::RunSpec& run) {
  if (info.sharing != Sharing::one_network) return false;
  if (!compress::compressors().at(run.compress.method).lossless) return true;
  return !info.exact(run) && !info.perturbs && !info.lossless.empty();
}

namespace {

bool leaves_out(const RetainedRank& retained, const step::Scope& scope) {
  return retained.most.evaluate(scope) < retained.all.evaluate(scope);
}

/// Returns whether the run's parameters are those that make the algorithm lossless.
bool is_lossless(const MethodInfo& info, const spec::RunSpec& run) {
  return std::ranges::all_of(info.lossless, [&](const auto& parameter) {
    const auto set = run.parameters.find(parameter.first);
    return set != run.parameters.end() && set->second == parameter.second;
  });
}

}  // namespace

LossyLayers lossy_layers(const MethodInfo& info, const spec::RunSpec& run, const spec::ModelShape& network,
                         std::int64_t samples, std::size_t workers) {
  const compress::CompressorInfo& compressor = compress::compressors().at(run.compress.method);
  const step::StepSizes sizes{std::vector<std::int32_t>(workers, static_cast<std::int32_t>(samples)), {}};
  LossyLayers lossy_layers;
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const spec::LayerShape& layer = network.layers[i];
    if (!layer.has_outer_product()) continue;
    ++lossy_layers.of;
    const step::Scope scope{&layer, &sizes, 0, nullptr, spec::delta_relations(network, i)};
    bool left_out = false;
    if (!compressor.lossless) {
      const step::Expression all = step::extent::in() * step::extent::out();
      left_out = !compressor.keeps || leaves_out({compressor.keeps(run.compress.parameters, all), all}, scope);
    }
    if (!info.exact(run) && !info.lossless.empty()) {
      left_out = left_out ||
                 (info.retained_rank ? leaves_out(info.retained_rank(run.parameters), scope) : !is_lossless(info, run));
    }
    if (left_out) ++lossy_layers.layers;
  }
  return lossy_layers;
}

void run_step(const MethodInfo& info, Algorithm& algorithm, TrainingStep& step) {
  step.set_sharing(info.sharing == Sharing::one_network);
  algorithm.run(step);
  step.finish();
}

}  // namespace dadsim::algorithms
