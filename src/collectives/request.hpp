#pragma once

#include <optional>

#include "collectives/blocks.hpp"
#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Returns why the request is invalid for `ranks` ranks; nothing if it is valid.
std::optional<Fault> fault_in(const CollectiveRequest& request, Rank ranks);

/// Returns the blocks of a request in which each rank sends or gets one block.
BlockSizes one_block_per_rank(const CollectiveRequest& request, Rank ranks);

/// Returns the bytes by which libraries choose: of the whole vector, or of the blocks of all ranks.
double counted_bytes(const CollectiveRequest& request, Rank ranks);

/// Returns, for gather, scatter, all-to-all, neighbour exchange and stage send, the name of the algorithm that sends
/// all messages at once; null for other kinds.
const char* messages_at_once(step::CollectiveKind kind);

}  // namespace dadsim::collectives
