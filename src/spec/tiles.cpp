#include "spec/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "spec/stages.hpp"

namespace dadsim::spec {
namespace {

constexpr double kMostScores = 2147483648.0;

double rows_of(const LayerShape& layer, double samples) { return static_cast<double>(layer.rows_per_sample) * samples; }

std::int64_t smallest_parts(const LayerShape& layer, double samples) {
  return std::max<std::int64_t>(1, std::llround(std::ceil(rows_of(layer, samples) / kRowsOfPart)));
}

/// Returns the number of parts, limited by the number of rows as in torch.chunk.
std::int64_t parts_of(const LayerShape& layer, std::int64_t parts, double samples) {
  return std::min<std::int64_t>(parts, std::llround(std::ceil(rows_of(layer, samples))));
}

/// Returns whether the layer is a first product of a feed-forward network, which keeps the inputs of its activation in
/// addition to its outputs.
bool opens_feed_forward(const LayerShape& layer) {
  return layer.kind == LayerKind::dense && layer.experts == 1 && layer.split == TensorSplit::column &&
         layer.kept_beside_per_sample > 0 && !block_of(layer.name).empty();
}

/// Calls `tile` with the first products, and the last one, of each feed-forward network. Returns whether there are any.
template <class Tile>
bool for_feed_forward(ModelShape& model, const Tile& tile) {
  bool any = false;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const bool ends = i > 0 && opens_feed_forward(model.layers[i - 1]) && model.layers[i].split == TensorSplit::row;
    if (!ends && !opens_feed_forward(model.layers[i])) continue;
    tile(model.layers[i]);
    any = true;
  }
  return any;
}

void put_in_parts(LayerShape& layer, std::int64_t parts) {
  layer.sequential = parts;
  layer.recomputed_macs_per_sample = layer.forward_macs_per_sample;
}

}  // namespace

bool keeps_softmax(const LayerShape& layer) {
  constexpr double kFloat = 4;  // bytes
  return layer.kind == LayerKind::dense && layer.outputs_per_sample > 0 &&
         layer.kept_bytes_per_sample >= kFloat * layer.outputs_per_sample;
}

bool is_tiled(const LayerShape& layer) {
  return layer.kind == LayerKind::dense && layer.recomputed_macs_per_sample > 0 && layer.split == TensorSplit::column;
}

ModelShape with_tiles(ModelShape model, const ParallelismSpec& how, double samples) {
  bool loss = false;
  for (LayerShape& layer : model.layers) {
    if (!keeps_softmax(layer)) continue;
    loss = true;
    const bool many = layer.outputs_per_sample * samples / how.tensor > kMostScores;
    if (how.loss_parts > 0) layer.sequential = parts_of(layer, how.loss_parts, samples);
    if (how.loss_parts == 0 && many) layer.sequential = smallest_parts(layer, samples);
  }
  if (how.loss_parts > 0 && !loss)
    throw std::invalid_argument("the workload has no class scores in fp32, which loss-parts needs");
  const bool tiled = how.feed_forward_parts > 1 && for_feed_forward(model, [&](LayerShape& layer) {
                       put_in_parts(layer, parts_of(layer, how.feed_forward_parts, samples));
                     });
  if (how.feed_forward_parts > 1 && !tiled)
    throw std::invalid_argument("the workload has no feed-forward networks, which feed-forward-parts needs");
  return model;
}

ModelShape with_smallest_tiles(ModelShape model, double samples) {
  const auto tile = [&](LayerShape& layer) {
    layer.sequential = std::max(layer.sequential, smallest_parts(layer, samples));
  };
  for (LayerShape& layer : model.layers) {
    if (keeps_softmax(layer)) tile(layer);
  }
  for_feed_forward(model, [&](LayerShape& layer) {
    tile(layer);
    put_in_parts(layer, layer.sequential);
  });
  return model;
}

}  // namespace dadsim::spec
