#pragma once

#include <memory>

#include "collectives/blocks.hpp"
#include "collectives/collective.hpp"

namespace dadsim::collectives {

/// Returns true for several nodes, some of several ranks, that differ in size or are not numbered node by node.
bool has_uneven_nodes(const RankLayout& layout);

/// `tree` on such nodes.
std::unique_ptr<BlockRounds> uneven_tree_all_reduce(const CollectiveRequest& request, const RankLayout& layout);

}  // namespace dadsim::collectives
