#include "spec/kept_activations.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

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

bool is_computed_again(const ModelShape& model, std::size_t position, Recomputation recomputation) {
  const std::string_view block = block_of(model.layers[position].name);
  if (block.empty() || recomputation == Recomputation::none) return false;
  if (recomputation == Recomputation::full) return true;
  if (recomputation == Recomputation::selective) return model.layers[position].kind == LayerKind::attention;
  std::size_t first = position;
  while (first > 0 && block_of(model.layers[first - 1].name) == block) --first;
  return !is_kept_by_operations(std::span(model.layers).subspan(first), position - first);
}

bool computes_any_again(const ModelShape& model, Recomputation recomputation) {
  for (std::size_t position = 0; position < model.layers.size(); ++position) {
    if (is_computed_again(model, position, recomputation)) return true;
  }
  return false;
}

double inputs_of_block(const LayerShape& first) {
  if (first.in > 0) return first.inputs();
  // A decoder that shares the word table has no matrix of its own.
  if (first.kind == LayerKind::dense && first.outputs_per_sample > 0)
    return static_cast<double>(first.rows_per_sample) * first.forward_macs_per_sample / first.outputs_per_sample;
  return first.outputs_per_sample - first.scores_per_sample;
}

double KeptActivations::of(const LayerShape& layer) const {
  if (is_tiled(layer)) return 0;
  // Scores of classes are held for one part at a time.
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

/// Returns the kept numbers that only products of dense layers read: the output of a norm (except norms of queries or
/// keys), and the output of an activation, whose input is kept as well.
double KeptActivations::read_by_products(const LayerShape& layer) {
  if (layer.kind == LayerKind::normalisation) return layer.split == TensorSplit::heads ? 0 : layer.outputs_per_sample;
  return layer.kind == LayerKind::dense ? std::max(0.0, layer.kept_beside_per_sample) : 0;
}

double KeptActivations::outputs_of(const LayerShape& layer) const {
  return element_ * layer.outputs_per_sample / divided(layer);
}

/// Between blocks only the sequence is divided.
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
      return of_all(with_selective_recomputation({"", {layers.begin(), layers.end()}}).layers);
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
  const bool whole = layer.split == TensorSplit::whole || layer.split == TensorSplit::row ||
                     (layer.split == TensorSplit::vocabulary && layer.kind == LayerKind::embedding);
  return whole ? along_sequence_ : 1;
}

}  // namespace dadsim::spec
