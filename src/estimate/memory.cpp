#include "estimate/memory.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <stdexcept>

#include "estimate/program_memory.hpp"
#include "spec/attention.hpp"
#include "spec/device_part.hpp"
#include "spec/kept_activations.hpp"
#include "spec/layer_matrices.hpp"
#include "spec/stages.hpp"
#include "spec/tiles.hpp"

namespace dadsim::estimate {
namespace {

constexpr double kFloat = 4;  // bytes of a float
constexpr double kToken = 8;  // bytes of a table index

std::span<const spec::LayerShape> layers_of(const spec::ModelShape& model, const spec::LayerRange& range) {
  return std::span(model.layers).subspan(range.first, range.end - range.first);
}

/// Numbers of floats in layers: trained and frozen ones.
struct HeldBytes {
  double learned = 0, frozen = 0;
  double multiplied = 0;  ///< trained floats of matrices of dense layers
  double all() const { return learned + frozen; }
  void keep_larger(const HeldBytes& other) {
    learned = std::max(learned, other.learned);
    frozen = std::max(frozen, other.frozen);
    multiplied = std::max(multiplied, other.multiplied);
  }
};

/// Parameters of layers: those that every replica has, and those of experts divided among devices.
struct HeldByWhom {
  HeldBytes replicas, experts;
};
HeldByWhom parameters_of(std::span<const spec::LayerShape> layers) {
  HeldByWhom held;
  for (const spec::LayerShape& layer : layers) {
    HeldBytes& whose = layer.expert_group > 1 ? held.experts : held.replicas;
    whose.learned += static_cast<double>(layer.parameters);
    whose.frozen += static_cast<double>(layer.frozen);
    if (layer.kind == spec::LayerKind::dense && !layer.is_tied())
      whose.multiplied += static_cast<double>(layer.experts * layer.in * layer.out);
  }
  return held;
}

/// Bytes of activations of a piece of the network: `kept` per sample of each micro-batch under way, and `at_work` while
/// the piece processes one.
struct PieceActivations {
  double kept = 0;
  double at_work = 0;
  double on_host = 0;       ///< bytes of kept activations that blocks offload to the host
  double largest_away = 0;  ///< bytes of the largest offloaded block
  double gradients = 0;     ///< bytes of activation gradients in the backward pass of a block
  double softmax = 0;       ///< bytes of kept softmax of class scores, freed after the blocks' backward pass
};

/// Adds the activations that blocks of the piece offload to the host. `stays`: the last block keeps its own on the
/// device.
void leave_with_host(const spec::ModelShape& piece, bool stays, const spec::ParallelismSpec& how,
                     const spec::KeptActivations& kept, PieceActivations& use) {
  std::vector<double> blocks;
  for (const spec::LayerRange& block : blocks_of(piece)) {
    if (spec::repeats(block)) blocks.push_back(kept.of_block(layers_of(piece, block)));
  }
  if (stays && !blocks.empty()) blocks.pop_back();
  blocks.resize(how.blocks_on_host(blocks.size()));
  for (const double block : blocks) {
    use.on_host += block;
    use.largest_away = std::max(use.largest_away, block);
  }
}

/// Returns the largest number of bytes of recomputed activations, per sample, that exist at once: those of a block's
/// attention half, or of its other half.
double most_again(std::span<const spec::LayerShape> block, std::span<const spec::LayerShape> less,
                  const spec::KeptActivations& kept) {
  double most = 0;
  double half = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    half += kept.of(block[i]) - kept.of(less[i]);
    most = std::max(most, half);
    if (block[i].kind == spec::LayerKind::attention) half = 0;
  }
  return most;
}

PieceActivations activations_of(const spec::ModelShape& piece, const spec::ParallelismSpec& how,
                                const spec::KeptActivations& kept) {
  PieceActivations use;
  switch (how.recomputation) {
    case spec::Recomputation::none:
      use.kept = kept.of_all(piece.layers);
      break;
    case spec::Recomputation::selective: {
      const spec::ModelShape less = with_selective_recomputation(piece, how.recomputed_parts);
      use.kept = kept.of_all(less.layers);
      for (const spec::LayerRange& block : blocks_of(piece))
        use.at_work = std::max(use.at_work, most_again(layers_of(piece, block), layers_of(less, block), kept));
      break;
    }
    case spec::Recomputation::operations:
    case spec::Recomputation::full:
      for (const spec::LayerRange& block : blocks_of(piece)) {
        const std::span<const spec::LayerShape> layers = layers_of(piece, block);
        const double all = kept.of_all(layers);
        const double own = spec::repeats(block) ? kept.of_block(layers) : all;
        // Recomputes everything except the block input.
        const bool whole = how.recomputation == spec::Recomputation::full;
        use.kept += own;
        if (spec::repeats(block)) use.at_work = std::max(use.at_work, whole ? all : all - own);
      }
      break;
  }
  double tiles = 0;
  for (const spec::LayerRange& block : blocks_of(piece)) {
    tiles = std::max(tiles, kept.of_tiles(layers_of(piece, block)));
    use.gradients = std::max(use.gradients, kept.gradients_of_block(layers_of(piece, block)));
  }
  use.at_work += tiles;
  for (const spec::LayerShape& layer : piece.layers) use.softmax += spec::keeps_softmax(layer) ? kept.of(layer) : 0;
  return use;
}

/// Returns the bytes per sample of class scores between the passes, in addition to the fp32 softmax: the scores
/// themselves, and their gradients in fp32 and in the precision of the pass. Devices that divide the classes overwrite
/// the softmax with the gradients (Megatron-LM, vocabulary-parallel cross-entropy).
double bytes_at_the_turn(const spec::LayerShape& layer, double element, std::int32_t tensor) {
  if (!spec::keeps_softmax(layer)) return 0;
  const double narrow = element < kFloat ? element : 0;
  return layer.outputs_per_sample / static_cast<double>(layer.sequential) *
         (element + (tensor > 1 ? 0 : kFloat) + narrow);
}

/// Returns the number of pieces of the network, with one micro-batch each, whose activations a stage holds at once.
double pieces_at_work(const spec::ParallelismSpec& parallelism, double micro_batches, double stage) {
  if (parallelism.pipeline <= 1) return parallelism.interleave;
  const double pieces = parallelism.interleave;
  const double stages = parallelism.pipeline;
  if (parallelism.order == spec::PipelineOrder::gpipe) return pieces * micro_batches;
  if (parallelism.order == spec::PipelineOrder::zero_bubble) return std::min(micro_batches, stages);
  if (parallelism.order == spec::PipelineOrder::dualpipe_v) return std::min(2 * micro_batches, 2 * stages + 1);
  if (parallelism.interleave <= 1) return std::min(micro_batches, stages - stage);
  return std::min(pieces * micro_batches, pieces * stages + stages - 1 - 2 * stage);
}

/// Bytes per parameter of weights, states and casts.
struct MemoryWidths {
  double bytes = 4;      ///< bytes of a weight
  StateWidths states{};  ///< states of the optimizer
  double casts = 0;      ///< casts: copies that products read in place of the weights
};

/// Returns the bytes per parameter. Formats with one-row blocks need two casts, by rows for the forward pass and by
/// columns for the backward pass (NVIDIA, Transformer Engine, MXFP8 and NVFP4 block scaling).
MemoryWidths widths_of(spec::Precision precision, StateWidths states) {
  const bool twice =
      spec::casts_operands(precision) && precision != spec::Precision::fp8 && precision != spec::Precision::fp8_current;
  if (!has_master_copies(precision)) states.master = 0;
  return {bytes_per_element(precision), states, twice ? 2 * operand_bytes(precision) : 0};
}

/// Adds the memory of parameters on one device, for layers that `replicas` devices share. `copies`: copies of the first
/// table. With divided parameters, some remain whole on the device during a step: the layers outside of blocks, and a
/// few blocks.
void add_parameters(const HeldBytes& held, const HeldBytes& copies, const HeldBytes& largest_block, double outside,
                    const spec::OptimizerSpec& optimizer, const MemoryWidths& widths,
                    const spec::ParallelismSpec& parallelism, double replicas, MemoryUse& use) {
  const double bytes = widths.bytes;
  const double learned = held.learned + copies.learned;
  const double parameters = held.all() + copies.all();
  const auto divided = [&](spec::Sharding from) { return parallelism.sharding >= from ? replicas : 1.0; };
  const double states = learned / divided(spec::Sharding::optimizer);
  use.master_copies += parallelism.state_kept() * widths.states.master * states;
  use.optimizer += parallelism.state_kept() * widths.states.moment * optimizer_state_per_parameter(optimizer) * states;
  const bool whole = parallelism.deferred_sums == spec::DeferredSums::all;
  use.gradients += bytes * learned / (whole ? 1 : divided(spec::Sharding::gradients));
  use.parameters += bytes * parameters / divided(spec::Sharding::parameters);
  if (parallelism.sharding >= spec::Sharding::gradients && replicas > 1 && !whole)
    use.gradients += bytes * largest_block.learned;
  if (parallelism.sharding >= spec::Sharding::parameters && replicas > 1)
    use.parameters +=
        bytes * std::min(outside + copies.all() + (parallelism.prefetch + 1) * largest_block.all(), parameters);
  const bool gathered = parallelism.sharding >= spec::Sharding::parameters && replicas > 1;
  use.parameters += widths.casts * (gathered ? largest_block.multiplied : held.multiplied);
}

/// Adds the memory of the parameters of all layers of `part`.
void add_parameters(const spec::ModelShape& part, const HeldBytes& copies, const spec::OptimizerSpec& optimizer,
                    const MemoryWidths& widths, const spec::ParallelismSpec& parallelism, double replicas,
                    MemoryUse& use) {
  HeldByWhom largest;
  double outside = 0;
  double expert_copies = 1;
  for (const spec::LayerShape& layer : part.layers) {
    if (layer.expert_group > 1) expert_copies = layer.expert_copies;
  }
  for (const spec::LayerRange& block : blocks_of(part)) {
    const HeldByWhom own = parameters_of(layers_of(part, block));
    if (spec::repeats(block)) {
      largest.replicas.keep_larger(own.replicas);
      largest.experts.keep_larger(own.experts);
    } else {
      outside += own.replicas.all();
    }
  }
  const HeldByWhom held = parameters_of(part.layers);
  add_parameters(held.replicas, copies, largest.replicas, outside, optimizer, widths, parallelism, replicas, use);
  add_parameters(held.experts, {}, largest.experts, 0, optimizer, widths, parallelism, expert_copies, use);
}

/// Returns the numbers in the matrices of a block, with one expert per matrix: for each shape, the largest sum over any
/// block, added up over the shapes.
double numbers_of_gradient_shapes(const spec::ModelShape& part) {
  std::map<std::pair<std::int64_t, std::int64_t>, double> most;
  for (const spec::LayerRange& block : blocks_of(part)) {
    std::map<std::pair<std::int64_t, std::int64_t>, double> own;
    for (const spec::LayerShape& layer : layers_of(part, block)) {
      if (spec::repeats(block) && layer.kind == spec::LayerKind::dense && layer.has_matrix())
        own[{layer.in, layer.out}] += static_cast<double>(layer.in) * static_cast<double>(layer.out);
    }
    for (const auto& [shape, numbers] : own) most[shape] = std::max(most[shape], numbers);
  }
  double sum = 0;
  for (const auto& [shape, numbers] : most) sum += numbers;
  return sum;
}

/// Returns the numbers of the matrices that produce class scores.
double numbers_of_decoders(const spec::ModelShape& part) {
  double sum = 0;
  for (const spec::LayerShape& layer : part.layers) {
    if (spec::keeps_softmax(layer) && layer.frozen == 0)
      sum += layer.forward_macs_per_sample / static_cast<double>(layer.rows_per_sample);
  }
  return sum;
}

/// Returns the numbers of the matrices of all blocks except the largest.
double numbers_of_other_blocks(const spec::ModelShape& part) {
  double sum = 0;
  double largest = 0;
  for (const spec::LayerRange& block : blocks_of(part)) {
    if (!spec::repeats(block)) continue;
    const double own = parameters_of(layers_of(part, block)).replicas.multiplied;
    sum += own;
    largest = std::max(largest, own);
  }
  return sum - largest;
}

/// Returns the number of second moments that an optimizer leaves out for a layer.
double second_moments_left_out(const spec::OptimizerSpec& optimizer, const spec::ModelShape& model,
                               std::size_t position) {
  if (optimizer.kind != spec::OptimizerSpec::Kind::muon || !spec::delta_relations(model, position).hidden_matrix)
    return 0;
  const spec::LayerShape& layer = model.layers[position];
  return static_cast<double>(layer.experts) * static_cast<double>(layer.in) * static_cast<double>(layer.out);
}

}  // namespace

double MemoryUse::total() const {
  return parameters + master_copies + optimizer + gradients + activations + scores + algorithm;
}

std::vector<std::pair<std::string, double>> MemoryUse::breakdown() const {
  std::vector<std::pair<std::string, double>> lines{{"parameters", parameters},   {"master copies", master_copies},
                                                    {"optimizer", optimizer},     {"gradients", gradients},
                                                    {"activations", activations}, {"scores", scores},
                                                    {"algorithm", algorithm}};
  std::erase_if(lines, [](const auto& line) { return line.second == 0; });
  return lines;
}

double gradients_before_room(const spec::ModelShape& model, double samples, double gradient,
                             const spec::KeptActivations& kept) {
  if (std::ranges::any_of(model.layers, spec::keeps_softmax)) return 0;  // freeing class scores makes room first
  double most = 0;
  double balance = 0;  // gradients computed so far − activations freed so far
  for (std::size_t i = model.layers.size(); i-- > 0;) {
    // A layer's gradient is computed before the layer's activations are freed.
    balance += gradient * static_cast<double>(model.layers[i].parameters);
    most = std::max(most, balance);
    balance -= samples * kept.of(model.layers[i]);
  }
  return most;
}

double optimizer_state_per_parameter(const spec::OptimizerSpec& optimizer) {
  switch (optimizer.kind) {
    case spec::OptimizerSpec::Kind::sgd:
    case spec::OptimizerSpec::Kind::lars:
      return optimizer.momentum > 0 ? 1 : 0;
    case spec::OptimizerSpec::Kind::adam:
    case spec::OptimizerSpec::Kind::adamw:
    case spec::OptimizerSpec::Kind::lamb:
    case spec::OptimizerSpec::Kind::muon:
      return 2;
  }
  throw std::logic_error("unknown optimizer");
}

double optimizer_state(const spec::OptimizerSpec& optimizer, const spec::ModelShape& model) {
  double floats = optimizer_state_per_parameter(optimizer) * static_cast<double>(model.parameters());
  for (std::size_t i = 0; i < model.layers.size(); ++i) floats -= second_moments_left_out(optimizer, model, i);
  return floats;
}

MemoryUse memory_use(const spec::ModelShape& model, const spec::OptimizerSpec& optimizer, const AlgorithmState& state,
                     const std::vector<std::int32_t>& samples, std::size_t worker, spec::Precision precision,
                     const spec::ParallelismSpec& parallelism, const StateWidths& widths) {
  return memory_use(model, optimizer, state, samples, worker, precision, parallelism, widths, {});
}

MemoryUse memory_use(const spec::ModelShape& model, const spec::OptimizerSpec& optimizer, const AlgorithmState& state,
                     const std::vector<std::int32_t>& samples, std::size_t worker, spec::Precision precision,
                     const spec::ParallelismSpec& parallelism, const StateWidths& widths, const ProgramMemory& program,
                     std::vector<MemoryMoment>* moments) {
  const double bytes = bytes_per_element(precision);
  const spec::KeptActivations kept(precision, parallelism, program.shortcut);
  const spec::ModelShape part = spec::sharded(model, parallelism.tensor);
  const auto batch = static_cast<double>(samples.at(worker));
  const double rows =
      parallelism.micro_batch > 0 ? std::min(batch, static_cast<double>(parallelism.micro_batch)) : batch;
  const double micro_batches = rows > 0 ? std::ceil(batch / rows) : 1;
  const auto stages = static_cast<std::size_t>(parallelism.pipeline);
  const std::vector<spec::LayerRange> pieces =
      spec::pieces_of(part, stages * static_cast<std::size_t>(parallelism.interleave));
  const step::StepSizes sizes{samples, {std::vector<std::int32_t>(samples.size(), state.rank)}};

  const double sharers = parallelism.sharding_group > 0 ? parallelism.sharding_group
                                                        : static_cast<double>(samples.size()) * parallelism.context;

  MemoryUse worst;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    MemoryUse use;
    spec::ModelShape own;
    PieceActivations activations;
    double left_out = 0;
    for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
      if (parallelism.stage_of(static_cast<std::int32_t>(piece)) != static_cast<std::int32_t>(stage)) continue;
      const std::span<const spec::LayerShape> layers = layers_of(part, pieces[piece]);
      const spec::ModelShape shape{model.name, {layers.begin(), layers.end()}};
      PieceActivations of_piece = activations_of(shape, parallelism, kept);
      if (parallelism.offloads_activations())
        leave_with_host(shape, piece + 1 == pieces.size(), parallelism, kept, of_piece);
      activations.kept += of_piece.kept;
      activations.on_host += of_piece.on_host;
      activations.largest_away = std::max(activations.largest_away, of_piece.largest_away);
      activations.at_work = std::max(activations.at_work, of_piece.at_work);
      activations.gradients = std::max(activations.gradients, of_piece.gradients);
      activations.softmax += of_piece.softmax;
      own.layers.insert(own.layers.end(), layers.begin(), layers.end());
      for (std::size_t i = pieces[piece].first; i < pieces[piece].end; ++i) {
        const spec::LayerShape& layer = part.layers[i];
        const bool counts = layer.has_outer_product() || layer.adapter_rank > 0;
        if (!state.floats.is_zero() && (counts || (state.embeddings && layer.has_matrix()))) {
          for (const auto& [one, count] : spec::matrices_of(layer))
            use.algorithm += bytes * count *
                             state.floats.evaluate({&one, &sizes, static_cast<std::int32_t>(worker), nullptr,
                                                    spec::delta_relations(part, i)});
        }
        const double copies = layer.expert_group > 1 ? layer.expert_copies : sharers;
        left_out += second_moments_left_out(optimizer, part, i) /
                    (parallelism.sharding >= spec::Sharding::optimizer ? copies : 1);
      }
    }
    const bool last =
        parallelism.stage_of(static_cast<std::int32_t>(pieces.size()) - 1) == static_cast<std::int32_t>(stage);
    const bool copied = last && stage > 0 && std::ranges::any_of(own.layers, &spec::LayerShape::is_tied) &&
                        part.layers.front().kind == spec::LayerKind::embedding;
    add_parameters(own, copied ? parameters_of(std::span(part.layers).first(1)).replicas : HeldBytes{}, optimizer,
                   widths_of(precision, widths), parallelism, sharers, use);
    use.optimizer -= parallelism.state_kept() * widths_of(precision, widths).states.moment * left_out;
    const double at_a_time = pieces_at_work(parallelism, micro_batches, static_cast<double>(stage));
    const double of_all = at_a_time / parallelism.interleave;
    // While one block's activations are copied, another block's are in use.
    const double away = std::max(0.0, of_all * activations.on_host - 2 * activations.largest_away);
    double scores = 0;
    for (const spec::LayerShape& layer : own.layers)
      scores += rows * bytes_at_the_turn(layer, bytes, parallelism.tensor);
    use.gradients = program.gradient_width * use.gradients + program.empty_gradient * numbers_of_gradient_shapes(own);
    if (program.casts_again && parallelism.recomputation == spec::Recomputation::full)
      use.parameters -= bytes * numbers_of_other_blocks(own);
    const double of_decoder = program.empty_gradient * numbers_of_decoders(own);
    const double in_block = rows * (activations.at_work + activations.gradients - activations.softmax);
    const bool at_the_turn = scores + of_decoder > in_block;
    double inputs = 0;
    if (stage == 0 && !part.layers.empty()) {
      const spec::LayerShape& first = part.layers.front();
      inputs = batch * (first.kind == spec::LayerKind::embedding ? kToken * static_cast<double>(first.rows_per_sample)
                                                                 : bytes * first.inputs());
    }
    const MemoryUse states = use;
    const double kept_at_once = rows * (of_all * activations.kept - away);
    use.activations = inputs + kept_at_once + (at_the_turn ? 0 : in_block);
    use.scores = at_the_turn ? scores : 0;
    use.gradients += at_the_turn ? of_decoder : 0;
    if (stage > 0 && use.total() <= worst.total()) continue;
    worst = use;
    if (moments == nullptr) continue;
    const auto at = [&](const char* when, double kept_share, double block, double turn) {
      MemoryMoment moment{when, states};
      moment.use.activations = inputs + kept_at_once * kept_share + block;
      moment.use.scores = turn > 0 ? scores : 0;
      moment.use.gradients += turn > 0 ? of_decoder : 0;
      return moment;
    };
    const double before = std::max(0.0, 1 - parallelism.interleave / at_a_time);  // share of earlier micro-batches
    *moments = {at("before the step", 0, 0, 0),
                at("forward pass half done", (before + 1) / 2, 0, 0),
                at("end of the forward pass", 1, 0, 0),
                at("loss", 1, 0, 1),
                at("backward pass of the last block", 1, in_block, 0),
                at("backward pass half done", (before + 1) / 2, in_block, 0),
                at("update", 0, 0, 0)};
  }
  return worst;
}

}  // namespace dadsim::estimate
