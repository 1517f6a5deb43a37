#pragma once

#include <array>
#include <cstdint>

#include "spec/layer_shape.hpp"
#include "spec/names.hpp"

namespace dadsim::spec {

/// Choice of the matrices with adapters.
enum class Adapted : std::uint8_t {
  all,        ///< matrices of attention and of MLPs, including experts
  attention,  ///< matrices of queries, keys, values and the attention output
};
constexpr auto names_of(Adapted) {
  using enum Adapted;
  return std::to_array<Name<Adapted>>({{all, "all"}, {attention, "attention"}});
}

/// Returns the network with all learned parameters frozen, and with learned adapters of `rank` next to the matrices of
/// its blocks (Hu et al., LoRA, ICLR 2022, arXiv:2106.09685, section 4.1): W x + B A x, with A of rank × in and B of
/// out × rank.
/// - `parameters` of a layer becomes rank (in + out), or 0; its former value becomes `frozen`.
/// - Both small products run next to the large one. The backward pass has no product for the gradient of W; the
///   gradient of the inputs is still formed, since earlier adapters need it.
/// - Tables, the decoder and norms have no adapter, nor have layers outside of blocks.
/// Throws std::invalid_argument, with a message for the user, if no matrix would have one.
ModelShape with_adapters(ModelShape model, std::int64_t rank, Adapted adapted);

}  // namespace dadsim::spec
