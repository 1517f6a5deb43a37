#pragma once

#include <string>

#include "step/neighbours.hpp"

namespace dadsim::algorithms {

/// The graph of a list of edges: a line `3 5` for an edge both ways, `3 > 5` for one from site 3 to site 5 alone; sites
/// count from 0; what follows a `#` is a comment. Throws InputError with everything that is wrong, line by line: no
/// such file, no edge, a site that does not exist, an edge from a site to itself, an edge that stands there twice, a
/// graph that falls apart.
step::Neighbours read_graph_file(const std::string& path, std::size_t sites);

}  // namespace dadsim::algorithms
