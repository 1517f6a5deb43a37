#pragma once

#include <string>
#include <vector>

#include "step/neighbours.hpp"

namespace dadsim::algorithms {

/// The contents of a list of edges.
struct GraphFile {
  step::Neighbours graph;
  std::vector<std::string> notes;  ///< what of it is not used or not sure, each "file:line: what; why"
};

/// The graph of a list of edges as people have them. A line `3 5` is an edge both ways, `3 > 5` or `3 -> 5` one from
/// site 3 to site 5 alone; between them may stand blanks, tabs, commas, semicolons or `--`, behind them a weight, which
/// is not used, Directed or Undirected. An edge may stand there once for each direction. What follows # or % is a
/// comment; the first line may be the number of sites, or of sites and of edges, or a line of names. Sites count from
/// 0, or from 1 where no site 0 is named; of MatrixMarket always from 1, each entry of a `general` one being one
/// direction. Throws InputError with everything that is wrong, line by line: no such file, no edge, a site that does
/// not exist, another number of sites, an edge that stands there twice, a graph that falls apart.
GraphFile read_graph_file(const std::string& path, std::size_t sites);

}  // namespace dadsim::algorithms
