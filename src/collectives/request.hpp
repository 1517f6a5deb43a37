#pragma once

#include <optional>

#include "collectives/blocks.hpp"
#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Returns the reason why the request makes no sense for `ranks` ranks; nothing if it does.
std::optional<Fault> fault_in(const CollectiveRequest& request, Rank ranks);

/// Returns the blocks of a request in which each rank sends or gets one block.
BlockSizes one_block_per_rank(const CollectiveRequest& request, Rank ranks);

/// Returns the bytes by which a library counts a collective: of the whole vector, or of the blocks of all ranks.
double counted_bytes(const CollectiveRequest& request, Rank ranks);

/// Describes kinds of collectives that are plain messages between the ranks, all at once.
const char* messages_at_once(step::CollectiveKind kind);

}  // namespace dadsim::collectives
