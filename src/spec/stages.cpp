#include "spec/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <stdexcept>

namespace dadsim::spec {
std::string_view block_of(std::string_view name) {
  constexpr std::string_view kBlock = "block";
  const std::size_t at = name.find(kBlock);
  if (at == std::string_view::npos || (at > 0 && name[at - 1] != '.')) return {};
  std::size_t end = at + kBlock.size();
  while (end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  if (end == at + kBlock.size() || end == name.size() || name[end] != '.') return {};
  return name.substr(0, end + 1);
}

std::vector<LayerRange> blocks_of(const ModelShape& model) {
  std::vector<LayerRange> blocks;
  std::string_view current;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::string_view block = block_of(model.layers[i].name);
    if (!block.empty() && block == current) {
      blocks.back().end = i + 1;
    } else {
      blocks.push_back({i, i + 1});
    }
    current = block;
  }
  return blocks;
}

namespace {

/// Returns the first layer of each piece. Minimises the largest number of multiply-adds of a piece, then the unevenness
/// of all. `firsts`: layers at which a piece may begin.
std::vector<std::size_t> balanced(const ModelShape& model, const std::vector<std::size_t>& firsts, std::size_t pieces) {
  const std::size_t units = firsts.size();
  std::vector<double> until(units + 1, 0);  // multiply-adds before each unit; earlier layers belong to the first unit
  for (std::size_t u = 0; u < units; ++u) {
    const std::size_t end = u + 1 == units ? model.layers.size() : firsts[u + 1];
    until[u + 1] = until[u];
    for (std::size_t i = u == 0 ? 0 : firsts[u]; i < end; ++i) until[u + 1] += model.layers[i].forward_macs_per_sample;
  }
  struct Best {
    double most = std::numeric_limits<double>::infinity();
    double squares = 0;
    std::size_t from = 0;  ///< unit at which the last piece begins
  };
  constexpr double kEqual = 1 + 1e-12;
  // best[k][u]: best division of the units before u into k + 1 pieces.
  std::vector<std::vector<Best>> best(pieces, std::vector<Best>(units + 1));
  for (std::size_t u = 1; u <= units; ++u) best[0][u] = {until[u], until[u] * until[u], 0};
  for (std::size_t k = 1; k < pieces; ++k) {
    for (std::size_t u = k + 1; u <= units; ++u) {
      for (std::size_t from = k; from < u; ++from) {
        const double own = until[u] - until[from];
        const Best one{std::max(best[k - 1][from].most, own), best[k - 1][from].squares + own * own, from};
        Best& known = best[k][u];
        if (one.most * kEqual < known.most || (one.most <= known.most * kEqual && one.squares * kEqual < known.squares))
          known = one;
      }
    }
  }
  std::vector<std::size_t> result(pieces, 0);
  std::size_t end = units;
  for (std::size_t k = pieces - 1; k > 0; --k) {
    end = best[k][end].from;
    result[k] = firsts[end];
  }
  return result;
}

/// Returns whether the blocks are one stack of transformer blocks whose number is a multiple of the pieces.
bool is_dealt_evenly(const ModelShape& model, const std::vector<std::size_t>& firsts, std::size_t pieces) {
  if (firsts.size() % pieces != 0) return false;
  const bool one_stack =
      std::ranges::all_of(firsts, [&](std::size_t first) { return model.layers[first].name.starts_with("block"); });
  return one_stack &&
         std::ranges::any_of(model.layers, [](const LayerShape& layer) { return layer.kind == LayerKind::attention; });
}

/// Returns the first layer of each piece, with equally many blocks in each.
std::vector<std::size_t> evenly(const std::vector<std::size_t>& firsts, std::size_t pieces) {
  std::vector<std::size_t> result(pieces, 0);
  for (std::size_t k = 1; k < pieces; ++k) result[k] = firsts[k * firsts.size() / pieces];
  return result;
}

/// Adds units for the layers before the first block and after the last block. `firsts`: first layers of the blocks.
void add_ends(const ModelShape& model, std::vector<std::size_t>& firsts) {
  std::size_t end = 0;  // end of the last repeated block
  for (const LayerRange& block : blocks_of(model)) {
    if (repeats(block)) end = block.end;
  }
  if (firsts.front() > 0) firsts.insert(firsts.begin(), 0);
  if (end < model.layers.size()) firsts.push_back(end);
}

}  // namespace

std::vector<LayerRange> pieces_of(const ModelShape& model, std::size_t pieces) {
  if (pieces <= 1) return {{0, model.layers.size()}};
  std::vector<std::size_t> firsts;
  for (const LayerRange& block : blocks_of(model)) {
    if (repeats(block)) firsts.push_back(block.first);
  }
  const std::size_t blocks = firsts.size();
  for (std::size_t i = 0; blocks == 0 && i < model.layers.size(); ++i) firsts.push_back(i);
  if (blocks > 0 && blocks < pieces) add_ends(model, firsts);
  if (firsts.size() < pieces) {
    throw std::invalid_argument(fmt::format("'{}' has {} {}, which are too few for {} stages", model.name,
                                            blocks > 0 ? blocks : firsts.size(), blocks > 0 ? "blocks" : "layers",
                                            pieces));
  }
  const std::vector<std::size_t> begins =
      blocks > 0 && is_dealt_evenly(model, firsts, pieces) ? evenly(firsts, pieces) : balanced(model, firsts, pieces);
  std::vector<LayerRange> result;
  for (std::size_t piece = 0; piece < pieces; ++piece)
    result.push_back({begins[piece], piece + 1 == pieces ? model.layers.size() : begins[piece + 1]});
  return result;
}

}  // namespace dadsim::spec
