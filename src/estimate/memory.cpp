#include "estimate/memory.hpp"

#include <stdexcept>

namespace dadsim::estimate {

double MemoryUse::total() const { return parameters + master_copies + optimizer + gradients + activations + algorithm; }

std::vector<std::pair<std::string, double>> MemoryUse::breakdown() const {
  std::vector<std::pair<std::string, double>> lines{{"parameters", parameters},   {"master copies", master_copies},
                                                    {"optimizer", optimizer},     {"gradients", gradients},
                                                    {"activations", activations}, {"algorithm", algorithm}};
  std::erase_if(lines, [](const auto& line) { return line.second == 0; });
  return lines;
}

double optimizer_state_per_parameter(const spec::OptimizerSpec& optimizer) {
  switch (optimizer.kind) {
    case spec::OptimizerSpec::Kind::sgd:
      return optimizer.momentum > 0 ? 1 : 0;
    case spec::OptimizerSpec::Kind::adam:
    case spec::OptimizerSpec::Kind::adamw:
      return 2;
  }
  throw std::logic_error("unknown optimizer");
}

MemoryUse memory_use(const spec::ModelShape& model, const spec::OptimizerSpec& optimizer, const AlgorithmState& state,
                     const std::vector<std::int32_t>& samples, std::size_t worker, spec::Precision precision) {
  constexpr double kFloat = 4;  // bytes
  const double bytes = bytes_per_element(precision);
  const auto parameters = static_cast<double>(model.parameters());
  const auto rows = static_cast<double>(samples.at(worker));

  MemoryUse use;
  use.parameters = bytes * parameters;
  use.master_copies = has_master_copies(precision) ? kFloat * parameters : 0;
  use.optimizer = kFloat * optimizer_state_per_parameter(optimizer) * parameters;
  use.gradients = bytes * parameters;
  if (!model.layers.empty()) use.activations = bytes * rows * model.layers.front().inputs();

  const step::StepSizes sizes{samples, {std::vector<std::int32_t>(samples.size(), state.rank)}};
  for (const spec::LayerShape& layer : model.layers) {
    use.activations += bytes * rows * layer.outputs_per_sample;
    if (!layer.has_outer_product() && !(state.embeddings && layer.has_matrix())) continue;
    use.algorithm += bytes * state.floats.evaluate({&layer, &sizes, static_cast<std::int32_t>(worker)});
  }
  return use;
}

}  // namespace dadsim::estimate
