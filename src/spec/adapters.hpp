#pragma once

#include <array>
#include <cstdint>

#include "spec/layer_shape.hpp"
#include "spec/names.hpp"

namespace dadsim::spec {

/// Which matrices have adapters.
enum class Adapted : std::uint8_t {
  all,        ///< of attention and of MLPs, experts among them
  attention,  ///< of queries, keys, values and what is made of them
};
constexpr auto names_of(Adapted) {
  using enum Adapted;
  return std::to_array<Name<Adapted>>({{all, "all"}, {attention, "attention"}});
}

/// The network with all that it has learned frozen, and with adapters of `rank` learned beside the matrices of its
/// blocks (Hu et al., LoRA, ICLR 2022, arXiv:2106.09685, section 4.1): W x + B A x, with A of rank × in and B of
/// out × rank.
/// - `parameters` of a layer becomes rank (in + out), or 0; what it had is `frozen`.
/// - Both small products are done beside the large one. On the way back there is no product for the gradient of W; the
///   gradient of what came in is formed all the same, as adapters in front need it.
/// - Tables, the decoder and norms have no adapter, and no layer outside of blocks has one.
/// Throws std::invalid_argument, in words, where no matrix would have one.
ModelShape with_adapters(ModelShape model, std::int64_t rank, Adapted adapted);

}  // namespace dadsim::spec
