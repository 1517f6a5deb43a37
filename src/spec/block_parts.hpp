#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spec/names.hpp"

namespace dadsim::spec {

/// Part of a block that selective recomputation repeats (Megatron-LM, --recompute-modules).
enum class BlockPart : std::uint8_t {
  attention,          ///< softmax(Q·Kᵀ)·V, without the projections
  norms,              ///< norms between the residual stream and products
  feed_forward,       ///< network of a block without experts
  experts,            ///< router, exchange of rows, experts and shared experts
  expert_activation,  ///< activation function of experts, without the experts' products
  shared_experts,     ///< experts that all tokens use
  latent,             ///< products that make queries, keys and values of latent vectors
};
constexpr auto names_of(BlockPart) {
  using enum BlockPart;
  return std::to_array<Name<BlockPart>>({{attention, "attention"},
                                         {norms, "norms"},
                                         {feed_forward, "feed-forward"},
                                         {experts, "experts"},
                                         {expert_activation, "expert-activation"},
                                         {shared_experts, "shared-experts"},
                                         {latent, "latent"}});
}

/// A set of parts of a block; by default only attention.
struct BlockParts {
  std::uint8_t bits = 1U << static_cast<unsigned>(BlockPart::attention);

  bool has(BlockPart part) const { return (bits & bit(part)) != 0; }
  void add(BlockPart part) { bits |= bit(part); }
  bool meets(BlockParts other) const { return (bits & other.bits) != 0; }
  auto operator<=>(const BlockParts&) const = default;

 private:
  static constexpr std::uint8_t bit(BlockPart part) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(part));
  }
};

/// Returns the names of the parts, separated by spaces, in the order of BlockPart.
std::string to_text(BlockParts parts);
/// Returns the set of parts with these names, separated by spaces; nullopt if a name is unknown or there are no names.
std::optional<BlockParts> parse_parts(std::string_view text);

}  // namespace dadsim::spec
