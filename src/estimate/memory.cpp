#include "estimate/memory.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "spec/attention.hpp"
#include "spec/stages.hpp"
#include "spec/tensor_parallel.hpp"

namespace dadsim::estimate {
namespace {

constexpr double kFloat = 4;  // bytes
constexpr double kToken = 8;  // bytes of the index of an entry of a table

/// Bytes of what a layer keeps of one sample, as one of `tensor` devices.
class Kept {
 public:
  Kept(double bytes, const spec::ParallelismSpec& parallelism) : bytes_(bytes), parallelism_(parallelism) {}

  double of(const spec::LayerShape& layer) const {
    return (bytes_ * layer.outputs_kept() + layer.kept_bytes_per_sample) / along_sequence(layer);
  }
  double outputs_of(const spec::LayerShape& layer) const {
    return bytes_ * layer.outputs_per_sample / along_sequence(layer);
  }
  double of_all(std::span<const spec::LayerShape> layers) const {
    double sum = 0;
    for (const spec::LayerShape& layer : layers) sum += of(layer);
    return sum;
  }

 private:
  /// Among how many devices what comes out of the layer is divided along the sequence.
  double along_sequence(const spec::LayerShape& layer) const {
    if (!parallelism_.sequence_parallel || parallelism_.tensor <= 1) return 1;
    const bool whole = layer.split == spec::TensorSplit::whole || layer.split == spec::TensorSplit::row ||
                       (layer.split == spec::TensorSplit::vocabulary && layer.kind == spec::LayerKind::embedding);
    return whole ? parallelism_.tensor : 1;
  }

  double bytes_;
  const spec::ParallelismSpec& parallelism_;
};

std::span<const spec::LayerShape> layers_of(const spec::ModelShape& model, const spec::LayerRange& range) {
  return std::span(model.layers).subspan(range.first, range.end - range.first);
}

double parameters_of(std::span<const spec::LayerShape> layers) {
  double sum = 0;
  for (const spec::LayerShape& layer : layers) sum += static_cast<double>(layer.parameters);
  return sum;
}

/// What a piece of the network keeps of one sample of each micro-batch that is on its way, and what it needs beside it
/// while it works on one.
struct PieceActivations {
  double kept = 0;
  double at_work = 0;
};

PieceActivations activations_of(const spec::ModelShape& piece, spec::Recomputation recomputation, const Kept& kept) {
  PieceActivations use;
  switch (recomputation) {
    case spec::Recomputation::none:
      use.kept = kept.of_all(piece.layers);
      break;
    case spec::Recomputation::selective: {
      const spec::ModelShape less = with_selective_recomputation(piece);
      use.kept = kept.of_all(less.layers);
      for (std::size_t i = 0; i < piece.layers.size(); ++i)
        use.at_work = std::max(use.at_work, kept.of(piece.layers[i]) - kept.of(less.layers[i]));
      break;
    }
    case spec::Recomputation::full:
      // What comes into a block is what comes out of the layer before it.
      for (const spec::LayerRange& block : blocks_of(piece)) {
        const std::span<const spec::LayerShape> layers = layers_of(piece, block);
        use.kept += spec::repeats(block) ? kept.outputs_of(layers.back()) : kept.of_all(layers);
        if (spec::repeats(block)) use.at_work = std::max(use.at_work, kept.of_all(layers));
      }
      break;
  }
  return use;
}

/// The pieces of the network, each with one micro-batch, whose activations a stage has at a time.
double pieces_at_work(const spec::ParallelismSpec& parallelism, double micro_batches, double stage) {
  if (parallelism.pipeline <= 1) return parallelism.interleave;
  const double pieces = parallelism.interleave;
  const double stages = parallelism.pipeline;
  if (parallelism.order == spec::PipelineOrder::gpipe) return pieces * micro_batches;
  if (parallelism.interleave <= 1) return std::min(micro_batches, stages - stage);
  return std::min(pieces * micro_batches, pieces * stages + stages - 1 - 2 * stage);
}

bool is_tied_decoder(const spec::LayerShape& layer) {
  return layer.kind == spec::LayerKind::dense && !layer.has_matrix() && layer.forward_macs_per_sample > 0;
}

/// What one device needs of parameters, of those of its layers and of copies beside them.
void add_parameters(const spec::ModelShape& part, double copies, const spec::OptimizerSpec& optimizer, double bytes,
                    bool masters, const spec::ParallelismSpec& parallelism, double replicas, MemoryUse& use) {
  const auto parameters = parameters_of(part.layers) + copies;
  double largest = 0;
  double outside = copies;
  for (const spec::LayerRange& block : blocks_of(part)) {
    const double own = parameters_of(layers_of(part, block));
    if (spec::repeats(block)) {
      largest = std::max(largest, own);
    } else {
      outside += own;
    }
  }
  const auto divided = [&](spec::Sharding from) { return parallelism.sharding >= from ? replicas : 1.0; };
  const double states = parameters / divided(spec::Sharding::optimizer);
  use.master_copies = masters ? kFloat * states : 0;
  use.optimizer = kFloat * optimizer_state_per_parameter(optimizer) * states;
  use.gradients = bytes * parameters / divided(spec::Sharding::gradients);
  use.parameters = bytes * parameters / divided(spec::Sharding::parameters);
  if (parallelism.sharding >= spec::Sharding::gradients && replicas > 1) use.gradients += bytes * largest;
  if (parallelism.sharding >= spec::Sharding::parameters && replicas > 1)
    use.parameters += bytes * std::min(outside + (parallelism.prefetch + 1) * largest, parameters);
}

}  // namespace

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
    case spec::OptimizerSpec::Kind::lars:
      return optimizer.momentum > 0 ? 1 : 0;
    case spec::OptimizerSpec::Kind::adam:
    case spec::OptimizerSpec::Kind::adamw:
    case spec::OptimizerSpec::Kind::lamb:
      return 2;
  }
  throw std::logic_error("unknown optimizer");
}

MemoryUse memory_use(const spec::ModelShape& model, const spec::OptimizerSpec& optimizer, const AlgorithmState& state,
                     const std::vector<std::int32_t>& samples, std::size_t worker, spec::Precision precision,
                     const spec::ParallelismSpec& parallelism) {
  const double bytes = bytes_per_element(precision);
  const Kept kept(bytes, parallelism);
  const spec::ModelShape part = spec::sharded(model, parallelism.tensor);
  const auto batch = static_cast<double>(samples.at(worker));
  const double rows =
      parallelism.micro_batch > 0 ? std::min(batch, static_cast<double>(parallelism.micro_batch)) : batch;
  const double micro_batches = rows > 0 ? std::ceil(batch / rows) : 1;
  const auto stages = static_cast<std::size_t>(parallelism.pipeline);
  const std::vector<spec::LayerRange> pieces =
      spec::pieces_of(part, stages * static_cast<std::size_t>(parallelism.interleave));
  const step::StepSizes sizes{samples, {std::vector<std::int32_t>(samples.size(), state.rank)}};

  MemoryUse worst;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    MemoryUse use;
    spec::ModelShape own;
    PieceActivations activations;
    for (std::size_t piece = stage; piece < pieces.size(); piece += stages) {
      const std::span<const spec::LayerShape> layers = layers_of(part, pieces[piece]);
      const PieceActivations of_piece =
          activations_of({model.name, {layers.begin(), layers.end()}}, parallelism.recomputation, kept);
      activations.kept += of_piece.kept;
      activations.at_work = std::max(activations.at_work, of_piece.at_work);
      own.layers.insert(own.layers.end(), layers.begin(), layers.end());
    }
    const bool copied = stages > 1 && stage + 1 == stages && std::ranges::any_of(own.layers, is_tied_decoder) &&
                        part.layers.front().kind == spec::LayerKind::embedding;
    add_parameters(own, copied ? static_cast<double>(part.layers.front().parameters) : 0, optimizer, bytes,
                   has_master_copies(precision), parallelism, static_cast<double>(samples.size()), use);
    const double at_a_time = pieces_at_work(parallelism, micro_batches, static_cast<double>(stage));
    use.activations = rows * (at_a_time / parallelism.interleave * activations.kept + activations.at_work);
    if (stage == 0 && !part.layers.empty()) {
      const spec::LayerShape& first = part.layers.front();
      use.activations +=
          batch * (first.kind == spec::LayerKind::embedding ? kToken * static_cast<double>(first.rows_per_sample)
                                                            : bytes * first.inputs());
    }
    for (const spec::LayerShape& layer : own.layers) {
      if (!layer.has_outer_product() && !(state.embeddings && layer.has_matrix())) continue;
      use.algorithm += bytes * state.floats.evaluate({&layer, &sizes, static_cast<std::int32_t>(worker)});
    }
    if (stage == 0 || use.total() > worst.total()) worst = use;
  }
  return worst;
}

}  // namespace dadsim::estimate
