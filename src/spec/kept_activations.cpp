#include "spec/kept_activations.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "spec/attention.hpp"
#include "spec/stages.hpp"
#include "spec/tiles.hpp"

namespace dadsim::spec {

bool is_kept_by_operations(std::span<const LayerShape> block, std::size_t position) {
  if (block[position].kind != LayerKind::dense) return block[position].kind == LayerKind::attention;
  const auto is_one_product = [](const LayerShape& layer) {
    return layer.kind == LayerKind::dense && layer.experts == 1 && layer.expert_group == 1;
  };
  return is_one_product(block[position]) && std::ranges::count_if(block.first(position), is_one_product) % 2 == 0;
}

namespace {

bool is_expert(const LayerShape& layer) {
  return layer.kind == LayerKind::dense && (layer.experts > 1 || layer.expert_group > 1);
}

bool opens_network(const LayerShape& layer) {
  return layer.kind == LayerKind::dense && layer.heads == 0 && layer.split == TensorSplit::column;
}

/// Returns whether the layer is a norm as wide as the residual stream; false for norms of queries, keys and latent
/// vectors.
bool is_norm(std::span<const LayerShape> block, const LayerShape& layer) {
  return layer.kind == LayerKind::normalisation && layer.split != TensorSplit::heads &&
         layer.outputs_per_sample == inputs_of_block(block.front());
}

/// Returns the part of a block that a layer belongs to; none for experts, and for layers outside the named parts.
/// `behind_experts`: the layer follows an expert layer, so that a dense layer is a shared expert.
std::optional<BlockPart> part_of(std::span<const LayerShape> block, std::size_t position, bool behind_experts) {
  const LayerShape& layer = block[position];
  if (layer.kind == LayerKind::attention) return BlockPart::attention;
  if (is_norm(block, layer)) return BlockPart::norms;
  if (layer.kind != LayerKind::dense || is_expert(layer)) return std::nullopt;
  const bool closes = layer.split == TensorSplit::row && position > 0 && opens_network(block[position - 1]);
  if (behind_experts) return BlockPart::shared_experts;
  if (opens_network(layer) || closes) return BlockPart::feed_forward;
  const auto is_latent = [&](const LayerShape& one) {
    return one.kind == LayerKind::normalisation && one.split != TensorSplit::heads && !is_norm(block, one);
  };
  const bool latent = layer.heads > 0 && std::ranges::any_of(block, is_latent);
  return latent ? std::optional(BlockPart::latent) : std::nullopt;
}

/// Returns, for each layer of a block, the parts whose recomputation includes the layer.
std::vector<BlockParts> parts_of_layers(std::span<const LayerShape> block) {
  std::vector<BlockParts> parts(block.size(), BlockParts{0});
  const auto first = static_cast<std::size_t>(std::ranges::find_if(block, is_expert) - block.begin());
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (const std::optional<BlockPart> part = part_of(block, i, i > first)) parts[i].add(*part);
    if (block[i].kind == LayerKind::dense && i + 1 >= first && first < block.size()) parts[i].add(BlockPart::experts);
  }
  return parts;
}

/// Removes the activations of recomputed layers. A layer that writes to the residual stream keeps only these outputs.
void leave_out(std::span<LayerShape> block, BlockParts parts) {
  const std::vector<BlockParts> of_layers = parts_of_layers(block);
  const double shortcut = inputs_of_block(block.front());
  for (std::size_t i = 0; i < block.size(); ++i) {
    LayerShape& layer = block[i];
    if (parts.has(BlockPart::expert_activation) && is_expert(layer))
      layer.kept_beside_per_sample = std::min(0.0, layer.kept_beside_per_sample);
    if (!of_layers[i].meets(parts)) continue;
    if (layer.kind == LayerKind::attention) {
      if (!(layer.scores_per_sample > 0)) continue;
      layer.kept_beside_per_sample = -layer.scores_per_sample;
      layer.kept_bytes_per_sample = 0;
      layer.recomputed_macs_per_sample = layer.forward_macs_per_sample;
      continue;
    }
    const bool last = i + 1 == block.size() || block[i + 1].kind != LayerKind::dense || !of_layers[i + 1].meets(parts);
    const bool hands_on = last && (is_expert(layer) || layer.split == TensorSplit::row);
    layer.kept_beside_per_sample = (hands_on ? shortcut : 0) - layer.outputs_per_sample;
    if (!hands_on) layer.kept_bytes_per_sample = 0;  // dropout after a feed-forward network is not part of it
  }
}

}  // namespace

BlockParts parts_of_blocks(const ModelShape& model) {
  BlockParts all{0};
  for (const LayerRange& block : blocks_of(model)) {
    if (!repeats(block)) continue;
    const std::span layers = std::span(model.layers).subspan(block.first, block.end - block.first);
    for (const BlockParts parts : parts_of_layers(layers)) all.bits |= parts.bits;
    if (std::ranges::any_of(layers, is_expert)) all.add(BlockPart::expert_activation);
  }
  return all;
}

ModelShape with_selective_recomputation(ModelShape model, BlockParts parts) {
  for (const LayerRange& block : blocks_of(model)) {
    if (repeats(block)) leave_out(std::span(model.layers).subspan(block.first, block.end - block.first), parts);
  }
  return model;
}

bool is_computed_again(const ModelShape& model, std::size_t position, const ParallelismSpec& how) {
  const std::string_view block = block_of(model.layers[position].name);
  if (block.empty() || how.recomputation == Recomputation::none) return false;
  if (how.recomputation == Recomputation::full) return true;
  std::size_t first = position;
  while (first > 0 && block_of(model.layers[first - 1].name) == block) --first;
  if (how.recomputation == Recomputation::operations)
    return !is_kept_by_operations(std::span(model.layers).subspan(first), position - first);
  std::size_t end = position + 1;
  while (end < model.layers.size() && block_of(model.layers[end].name) == block) ++end;
  const std::span layers = std::span(model.layers).subspan(first, end - first);
  return parts_of_layers(layers)[position - first].meets(how.recomputed_parts);
}

double activated_again(const LayerShape& layer, const ParallelismSpec& how) {
  const bool again = how.repeats_part(BlockPart::expert_activation) && is_expert(layer);
  return again ? std::max(0.0, layer.kept_beside_per_sample) : 0;
}

bool computes_any_again(const ModelShape& model, const ParallelismSpec& how) {
  if (how.recomputation == Recomputation::selective)
    return (parts_of_blocks(model).bits & how.recomputed_parts.bits) == how.recomputed_parts.bits;
  for (std::size_t position = 0; position < model.layers.size(); ++position) {
    if (is_computed_again(model, position, how)) return true;
  }
  return false;
}

double inputs_of_block(const LayerShape& first) {
  if (first.in > 0) return first.inputs();
  // A decoder with tied weights has no matrix of its own.
  if (first.kind == LayerKind::dense && first.outputs_per_sample > 0)
    return static_cast<double>(first.rows_per_sample) * first.forward_macs_per_sample / first.outputs_per_sample;
  return first.outputs_per_sample - first.scores_per_sample;
}

double KeptActivations::of(const LayerShape& layer) const {
  if (is_tiled(layer)) return 0;
  // Class scores are kept for one part at a time.
  const auto parts = keeps_softmax(layer) ? static_cast<double>(layer.sequential) : 1.0;
  return of_all_rows(layer) / parts;
}

double KeptActivations::of_tiles(std::span<const LayerShape> layers) const {
  double sum = 0;
  for (const LayerShape& layer : layers) {
    if (is_tiled(layer)) sum += of_all_rows(layer) / static_cast<double>(layer.sequential);
  }
  return sum;
}

double KeptActivations::of_all_rows(const LayerShape& layer) const {
  return (element_ * layer.outputs_kept() - (element_ - operand_) * read_by_products(layer) +
          layer.kept_bytes_per_sample) /
         divided(layer);
}

/// Returns the kept numbers that only dense products read: the output of a norm (except norms of queries or keys), and
/// the output of an activation whose input is kept too.
double KeptActivations::read_by_products(const LayerShape& layer) {
  if (layer.kind == LayerKind::normalisation) return layer.split == TensorSplit::heads ? 0 : layer.outputs_kept();
  return layer.kind == LayerKind::dense ? std::max(0.0, layer.kept_beside_per_sample) : 0;
}

double KeptActivations::outputs_of(const LayerShape& layer) const {
  return element_ * layer.outputs_per_sample / divided(layer);
}

/// Returns the bytes of a block's inputs on one device. Between blocks, only the sequence is divided among devices.
double KeptActivations::inputs_of_block(std::span<const LayerShape> layers) const {
  return shortcut_ * spec::inputs_of_block(layers.front()) / along_sequence_;
}

double KeptActivations::of_all(std::span<const LayerShape> layers) const {
  double sum = 0;
  for (const LayerShape& layer : layers) sum += of(layer);
  return sum;
}

double KeptActivations::of_block(std::span<const LayerShape> layers) const {
  switch (recomputation_) {
    case Recomputation::none:
      return of_all(layers);
    case Recomputation::selective:
      return of_all(with_selective_recomputation({"", {layers.begin(), layers.end()}}, parts_).layers);
    case Recomputation::operations: {
      double sum = inputs_of_block(layers);
      for (std::size_t i = 0; i < layers.size(); ++i) {
        const LayerShape& layer = layers[i];
        if (!is_kept_by_operations(layers, i) || is_tiled(layer)) continue;
        const double scores = element_ * layer.scores_per_sample / divided(layer);
        const bool fused = layer.kind == LayerKind::attention && layer.scores_per_sample == 0;
        sum += outputs_of(layer) - scores + (fused ? layer.kept_bytes_per_sample / divided(layer) : 0);
      }
      return sum;
    }
    case Recomputation::full:
      return inputs_of_block(layers);
  }
  throw std::logic_error("unknown recomputation");
}

double KeptActivations::gradients_of_block(std::span<const LayerShape> layers) const {
  const auto opens = [](const LayerShape& layer) {
    const bool experts = layer.experts > 1 || layer.expert_group > 1;
    return layer.kind == LayerKind::dense && layer.heads == 0 && (experts || layer.split == TensorSplit::column);
  };
  double most = 0;
  double inside = 0;  // outputs of the products before the activation
  const LayerShape* first = nullptr;
  for (const LayerShape& layer : layers) {
    const double parts = is_tiled(layer) ? static_cast<double>(layer.sequential) : 1;
    if (first != nullptr && layer.in == first->out && layer.out == first->in) {
      const double first_parts = is_tiled(*first) ? static_cast<double>(first->sequential) : 1;
      const double values = inside + layer.inputs() / first_parts;
      most = std::max(most, element_ * (values + layer.outputs_per_sample) + outputs_of(layer));
      first = nullptr;
    } else if (opens(layer)) {
      const bool same = first != nullptr && layer.in == first->in && layer.out == first->out;
      if (!same) first = &layer;
      inside = (same ? inside : 0) + layer.outputs_per_sample / parts;
    } else {
      first = nullptr;
    }
  }
  return most;
}

double KeptActivations::divided(const LayerShape& layer) const {
  // Whole experts divided among devices already have the rows of one device.
  if (layer.expert_group > 1 && layer.split == TensorSplit::whole) return 1;
  const bool whole = layer.split == TensorSplit::whole || layer.split == TensorSplit::row ||
                     (layer.split == TensorSplit::vocabulary && layer.kind == LayerKind::embedding);
  return whole ? along_sequence_ : 1;
}

}  // namespace dadsim::spec
