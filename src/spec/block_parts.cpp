#include "spec/block_parts.hpp"

#include "support/split.hpp"

namespace dadsim::spec {

std::string to_text(BlockParts parts) {
  std::string text;
  for (const Name<BlockPart>& name : names_of(BlockPart{})) {
    if (parts.has(name.value)) text += (text.empty() ? "" : " ") + std::string(name.text);
  }
  return text;
}

std::optional<BlockParts> parse_parts(std::string_view text) {
  BlockParts parts{0};
  for (const std::string& word : words_of(text)) {
    const std::optional<BlockPart> part = parse<BlockPart>(word);
    if (!part) return std::nullopt;
    parts.add(*part);
  }
  return parts.bits == 0 ? std::nullopt : std::optional(parts);
}

}  // namespace dadsim::spec
