#pragma once

#include <optional>

#include "collectives/blocks.hpp"
#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Why the request makes no sense for so many ranks; nothing where it does.
std::optional<Fault> fault_in(const CollectiveRequest& request, Rank ranks);

/// Returns the blocks of a request in which each rank sends or gets one block.
BlockSizes one_block_per_rank(const CollectiveRequest& request, Rank ranks);

/// Bytes that a library counts a collective by: of the whole vector, or of the blocks of all ranks.
double counted_bytes(const CollectiveRequest& request, Rank ranks);

/// Collectives that are plain messages between the ranks, all at once.
const char* messages_at_once(step::CollectiveKind kind);

}  // namespace dadsim::collectives
